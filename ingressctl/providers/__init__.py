"""Routes out: one room a gateway family, each the five functions of core.ports.Provider."""
