# mypy: ignore-errors
"""Legate Sparse's settings; nothing of Heddle depends on them."""

from legate.util.settings import PrioritizedSetting, Settings


class SparseSettings(Settings):
    precise_images = PrioritizedSetting("precise-images", "LEGATE_SPARSE_PRECISE_IMAGES", default=False)
    fast_spgemm = PrioritizedSetting("fast-spgemm", "LEGATE_SPARSE_FAST_SPGEMM", default=False)


settings = SparseSettings()
