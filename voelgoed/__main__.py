from voelgoed.cli import main

main()
