// Package transforms joins the families of transforms.
package transforms

import (
	"sluice/engine/transform"
	"sluice/engine/transforms/flow"
	"sluice/engine/transforms/generate"
	"sluice/engine/transforms/json"
	"sluice/engine/transforms/parquet"
	"sluice/engine/transforms/relation"
	"sluice/engine/transforms/rows"
	"sluice/engine/transforms/script"
	"sluice/engine/transforms/sheet"
	"sluice/engine/transforms/sql"
	"sluice/engine/transforms/text"
	"sluice/engine/transforms/xml"
)

//go:generate go run ./internal/reference/generate . ../../assets/docs/transforms

// Registry gives all transforms there are.
func Registry() *transform.Registry {
	return transform.NewRegistry(
		flow.Transforms,
		generate.Transforms,
		json.Transforms,
		parquet.Transforms,
		relation.Transforms,
		rows.Transforms,
		script.Transforms,
		sheet.Transforms,
		sql.Transforms,
		text.Transforms,
		xml.Transforms,
	)
}
