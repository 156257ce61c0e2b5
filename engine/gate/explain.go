package gate

import (
	"errors"

	"sluice/engine"
	"sluice/storage/snapshot"
)

// explain makes an error that a person reads: the node, the location, what
// happened and what to try.
func explain(node string, place *Place, err error) error {
	var own *engine.Error
	if err == nil || errors.As(err, &own) {
		return err
	}
	e := &engine.Error{Transform: node, Err: err, Hint: snapshot.Hint(err)}
	if place != nil {
		e.Message = "gate at " + place.Location.String()
	}
	return e
}
