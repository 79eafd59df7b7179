"""What people write: kinds, ConfigMaps, their defaults and their validation."""
