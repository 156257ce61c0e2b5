// Package transforms joins the families of transforms.
package transforms

import (
	"sluice/engine/transform"
	"sluice/engine/transforms/flow"
	"sluice/engine/transforms/rows"
)

// Registry gives all transforms there are.
func Registry() *transform.Registry {
	return transform.NewRegistry(
		flow.Transforms,
		rows.Transforms,
	)
}
