"""The route model, its passes, the world they read and the ports around them."""
