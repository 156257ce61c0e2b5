// Package flow holds the transforms that steer a pipeline: they wait, block,
// stop, log, set variables, pass rows to the next pipeline or run another one.
//
// Transforms lists them.
package flow

import (
	"fmt"
	"strings"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/transform"
)

// Transforms is the family.
var Transforms = []transform.Definition{
	Abort,
	BlockingTransform,
	BlockUntilTransformsFinish,
	Delay,
	DetectEmptyStream,
	PipelineExecutor,
	RowsFromResult,
	RowsToResult,
	SetVariable,
	WorkflowExecutor,
	WriteToLog,
}

// fieldIndex finds a field of the input; the error lists what there is.
func fieldIndex(s *batch.Schema, name, setting string) (int, error) {
	i := s.Index(name)
	if i < 0 {
		return 0, &engine.Error{
			Field: name, Message: "this field of " + setting + " is not in the input",
			Hint: fmt.Sprintf("the input has %s", strings.Join(s.Names(), ", ")),
		}
	}
	return i, nil
}

// inputOf is the schema of the main input, empty when nothing is connected.
func inputOf(l transform.Links) *batch.Schema {
	if s := l.Main(); s != nil {
		return s
	}
	return batch.NewSchema()
}
