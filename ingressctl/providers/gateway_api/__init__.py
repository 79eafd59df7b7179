"""Gateway API HTTPRoutes."""

from ingressctl.providers.gateway_api.provider import GatewayAPI

provider = GatewayAPI()

__all__ = ["GatewayAPI", "provider"]
