// Package docs holds the pages that the program shows as help.
package docs

import "embed"

// Pages are help/NAME.md, and transforms/TYPE.md as the source describes them.
//
//go:embed help/*.md transforms/*.md
var Pages embed.FS
