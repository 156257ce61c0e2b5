package rclone_test

import (
	"bytes"
	"testing"

	"github.com/cloudsoda/sddl"
)

func TestSecurityDescriptorsStayAsTheyAre(t *testing.T) {
	data := bytes.Repeat([]byte{1, 0, 4, 128}, 6)
	d, err := sddl.FromBinary(data)
	if err != nil {
		t.Fatal(err)
	}
	data[0] = 9
	if got := d.Binary(); len(got) != len(data) || got[0] != 1 || !bytes.Equal(got[1:], data[1:]) {
		t.Errorf("%v", got)
	}
	if _, err := sddl.FromBinary(data[:19]); err == nil {
		t.Error("a cut descriptor was taken")
	}
}
