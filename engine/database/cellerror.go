package database

import (
	"errors"
	"fmt"
)

// CellError says that a value of a result does not fit its field.
type CellError struct {
	Field string
	Value string
	Err   error
}

// Error names the column and the value.
func (e *CellError) Error() string {
	return fmt.Sprintf("column %q, value %q: %v", e.Field, clip(e.Value), e.Err)
}

// Unwrap gives the cause.
func (e *CellError) Unwrap() error { return e.Err }

func asCellError(err error) (*CellError, bool) {
	var c *CellError
	return c, errors.As(err, &c)
}
