// Package sddl stands in for the module of this name, which the client for SMB shares
// hands security descriptors through. Nothing here reads them, and the module's own
// licence is no permissive one; so they stay the bytes that the server sent.
package sddl

import (
	"errors"
	"slices"
)

// SecurityDescriptor is a security descriptor as it goes over the wire.
type SecurityDescriptor struct{ raw []byte }

// leastBytes is the size of a descriptor's head.
const leastBytes = 20

// FromBinary keeps a descriptor. One that is shorter than its head is an error.
func FromBinary(data []byte) (*SecurityDescriptor, error) {
	if len(data) < leastBytes {
		return nil, errors.New("security descriptor is cut short")
	}
	return &SecurityDescriptor{slices.Clone(data)}, nil
}

// Binary gives the descriptor back as it came.
func (d *SecurityDescriptor) Binary() []byte { return slices.Clone(d.raw) }
