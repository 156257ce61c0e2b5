// Command sluice designs, runs and replays Apache Hop pipelines and workflows.
package main

import (
	"os"

	"sluice/app"
)

func main() { os.Exit(app.Main(os.Args[1:])) }
