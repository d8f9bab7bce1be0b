"""Exceptions, with the names of math-verify's."""


class TimeoutException(BaseException):
    """The work exceeded its bound. As in math-verify it is not an `Exception`."""
