"""Campaigns against gpunim from outside: hostile command lines, kills, concurrent commands, and scenes.

Scenes (`scenes.toml`) are little memory and few addresses in every format, copied, mixed and damaged checkpoints and interrupted
tables, tables with rows amiss, and hostile current folders. Each case runs gpunim as its users do and checks the results by rules
that are independent of the fault (`judge`): an end within a limit, exit status 0, 1 or 2, one sentence for a refusal, nothing left
behind and nothing of another's changed, and for accepted input the result of an undisturbed run. `tests/test_campaign.py` tries
a few cases of each kind, others each day, or with GPUNIM_CAMPAIGN so many others; what fails is printed with what leads to it:

    GPUNIM_CAMPAIGN=1000 ./scripts/test --all tests/test_campaign.py -k "lines or scenes"
"""
