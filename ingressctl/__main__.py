"""``python -m ingressctl``"""

from ingressctl.cli.main import main

if __name__ == "__main__":
    main()
