"""What the sources print beside what gpunim computes: `papers` has a catalogue a paper, with every definition, theorem, example,
table, figure and sequence by the paper's number; `run` computes and compares; `report` writes the page.
"""
