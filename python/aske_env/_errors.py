"""The exceptions of the package."""


class ConfigError(ValueError):
    """A configuration that cannot be used. `hint` says what to do about it."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return with_hint(self.message, self.hint)


class RolloutFailure(RuntimeError):
    """A rollout that failed because of infrastructure: drop it, never score it.

    If a call to a model failed after all attempts, `cause` names why (such as `network`, `timeout` or `throttled`), `model`
    is the model's name in the configuration and `attempts` the number of attempts. `hint` says what to do about it.
    """

    def __init__(
        self,
        message: str,
        cause: str | None = None,
        model: str | None = None,
        attempts: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, cause, model, attempts, hint)
        self.message = message
        self.cause = cause
        self.model = model
        self.attempts = attempts
        self.hint = hint

    def __str__(self) -> str:
        return with_hint(self.message, self.hint)


def with_hint(message: str, hint: str | None) -> str:
    """A message with its hint, as the program prints it."""
    return message if hint is None else f"{message}\nhint: {hint}"


# Tracebacks and pickles name them as users do.
for exception in (ConfigError, RolloutFailure):
    exception.__module__ = "aske_env"
