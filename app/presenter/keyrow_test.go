package presenter_test

import (
	"testing"

	"sluice/app/presenter"
)

func TestKeysAreFoundByNameAndKey(t *testing.T) {
	if got := presenter.KeyRows(""); len(got) != len(presenter.Actions()) {
		t.Errorf("%d of %d actions are listed", len(got), len(presenter.Actions()))
	}
	for search, want := range map[string]string{"save as": "Save as", "shift+ctrl+s": "Save as", "metadata duplicate": "Duplicate"} {
		got := presenter.KeyRows(search)
		if len(got) == 0 || got[0].Title != want {
			t.Errorf("%q finds %v", search, got)
		}
	}
	if got := presenter.KeyRows("no such thing"); len(got) != 0 {
		t.Errorf("nonsense finds %v", got)
	}
}
