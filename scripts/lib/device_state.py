"""A GPU's clocks, temperature, power and users at a moment, by nvidia-smi or else by the driver's own library."""

import ctypes
import subprocess
from contextlib import suppress

_PATIENCE, _GRACE = 2.0, 0.5  # seconds for an answer, and to be gone once killed: the driver may be stuck
# What is shown, and what nvidia-smi calls it.  It refuses the whole question where it does not know one name.
_ALWAYS = {
    "SM clock": "clocks.sm",
    "most": "clocks.max.sm",
    "memory clock": "clocks.mem",
    "temperature": "temperature.gpu",
    "power": "power.draw",
    "load": "utilization.gpu",
    "memory used": "memory.used",
}
_LATELY = {"throttled by": "clocks_event_reasons.active", "MIG": "mig.mode.current", "ECC": "ecc.mode.current"}
_NVML_CLOCKS = {"SM clock": 1, "memory clock": 2}  # NVML_CLOCK_SM, NVML_CLOCK_MEM


def device_state(bus: str | None) -> dict[str, str]:
    """Return what is known of the GPU on that PCI bus (any, for None), each figure with its unit; nothing at worst."""
    return _by_smi(bus) or _by_nvml(bus)


def quickly(*command: str) -> tuple[int, str]:
    """Return a command's status and output; it has a few seconds, and 127 stands for one that is missing or stuck."""
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace"
        )
    except OSError:
        return 127, ""
    try:
        output, _ = process.communicate(timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        assert process.stdout is not None
        process.stdout.close()
        with suppress(subprocess.TimeoutExpired):  # in a stuck driver it may never end
            process.wait(_GRACE)
        return 127, ""
    return process.returncode, output


def _by_smi(bus: str | None) -> dict[str, str]:
    chosen = ("-i", bus) if bus else ()
    for names in (_ALWAYS | _LATELY, _ALWAYS):
        status, text = quickly("nvidia-smi", *chosen, f"--query-gpu={','.join(names.values())}", "--format=csv,noheader")
        values = [value.strip() for value in text.partition("\n")[0].split(",")]
        if status == 0 and len(values) == len(names):
            return dict(zip(names, values, strict=True))
        if status == 127:
            break
    return {}


def _by_nvml(bus: str | None) -> dict[str, str]:
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return {}
    device, value = ctypes.c_void_p(), ctypes.c_uint()
    by_bus, first = nvml.nvmlDeviceGetHandleByPciBusId_v2, nvml.nvmlDeviceGetHandleByIndex_v2
    if nvml.nvmlInit_v2() or (by_bus(bus.encode(), ctypes.byref(device)) if bus else first(0, ctypes.byref(device))):
        return {}
    state = {}
    for name, clock in _NVML_CLOCKS.items():
        if nvml.nvmlDeviceGetClockInfo(device, clock, ctypes.byref(value)) == 0:
            state[name] = f"{value.value} MHz"
    if nvml.nvmlDeviceGetMaxClockInfo(device, _NVML_CLOCKS["SM clock"], ctypes.byref(value)) == 0:
        state["most"] = f"{value.value} MHz"
    if nvml.nvmlDeviceGetTemperature(device, 0, ctypes.byref(value)) == 0:
        state["temperature"] = str(value.value)
    if nvml.nvmlDeviceGetPowerUsage(device, ctypes.byref(value)) == 0:
        state["power"] = f"{value.value / 1000:.1f} W"
    nvml.nvmlShutdown()
    return state
