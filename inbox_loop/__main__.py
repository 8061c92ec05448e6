"""``python -m inbox_loop`` is the ``inbox-loop`` command."""

from inbox_loop.commands.app import main

if __name__ == "__main__":
    main()
