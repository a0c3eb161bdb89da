# mypy: ignore-errors
"""Settings of Legate's kind: a value that was set, else an environment variable, else a default."""

import os


class SettingBase:
    def __init__(self, name, default=None, convert=None, help=""):
        self.name, self._default, self._convert, self._help = name, default, convert, help

    default = property(lambda self: self._default)
    help = property(lambda self: self._help)
    convert_type = property(lambda self: "bool" if isinstance(self._default, bool) else "str")


class PrioritizedSetting(SettingBase):
    def __init__(self, name, env_var=None, default=None, convert=None, help=""):
        super().__init__(name, default, convert, help)
        self._env_var, self._set = env_var, None

    env_var = property(lambda self: self._env_var)

    def __call__(self, value=None, default=None):
        if value is not None:
            return value
        if self._set is not None:
            return self._set
        found = os.environ.get(self._env_var) if self._env_var else None
        if found is not None:
            if isinstance(self._default, bool):
                return found.lower() in ("1", "true", "yes", "on")
            return self._convert(found) if callable(self._convert) else found
        return self._default if default is None else default

    def __get__(self, instance, owner):
        return self

    def __set__(self, instance, value):
        self._set = value

    set_value = lambda self, value: self.__set__(None, value)  # noqa: E731

    def unset_value(self):
        self._set = None


class EnvOnlySetting(PrioritizedSetting):
    pass


class Settings:
    pass
