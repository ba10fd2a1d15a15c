"""The read-only view of a dictionary, without the rest of `types`."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import MappingProxyType
else:
    MappingProxyType = type(type.__dict__)

__all__ = ["MappingProxyType"]
