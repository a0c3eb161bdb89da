# mypy: ignore-errors
"""cuPyNumeric's settings; nothing of Heddle depends on them."""

from legate.util.settings import EnvOnlySetting, PrioritizedSetting, Settings


class CuPyNumericRuntimeSettings(Settings):
    preload_cudalibs = PrioritizedSetting("preload_cudalibs", "CUPYNUMERIC_PRELOAD_CUDALIBS", default=False)
    warn = PrioritizedSetting("warn", "CUPYNUMERIC_WARN", default=False)
    doctor = PrioritizedSetting("doctor", "CUPYNUMERIC_DOCTOR", default=False)
    force_thunk = EnvOnlySetting("force_thunk", "CUPYNUMERIC_FORCE_THUNK", default=None)
    take_default = PrioritizedSetting("take_default", "CUPYNUMERIC_TAKE_DEFAULT", default="auto")
    report_coverage = PrioritizedSetting("report:coverage", "CUPYNUMERIC_REPORT_COVERAGE", default=False)
    numpy_compat = PrioritizedSetting("numpy_compat", "CUPYNUMERIC_NUMPY_COMPATABILITY", default=False)
    test = EnvOnlySetting("test", "CUPYNUMERIC_TEST", default=False)


settings = CuPyNumericRuntimeSettings()
