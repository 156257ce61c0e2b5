package pipeline

// UnusableError says that a file cannot be run as it is: it cannot be read, it
// needs something that is not there, or its hops make no sense. No transform was
// started.
type UnusableError struct{ Err error }

// Error gives the cause.
func (e *UnusableError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *UnusableError) Unwrap() error { return e.Err }

func unusable(err error) error {
	if err == nil {
		return nil
	}
	return &UnusableError{Err: err}
}
