"""Entries for the catalogues of gpunim, a module each, so that none is imported before its catalogue is read."""
