package hopxml

import "fmt"

// SyntaxError says where a document cannot be read and what to do about it.
// Line and Column count from 1; Column counts characters, not bytes.
type SyntaxError struct {
	File    string
	Line    int
	Column  int
	Message string // what is wrong
	Hint    string // what to do
}

// Error gives "file:line:column: message; hint".
func (e *SyntaxError) Error() string {
	s := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}
