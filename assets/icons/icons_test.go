package icons_test

import (
	"encoding/xml"
	"errors"
	"testing"

	"sluice/assets/icons"
)

func TestEveryIconIsWellFormed(t *testing.T) {
	names := icons.Names()
	if len(names) < 100 {
		t.Fatalf("got %d icons, want the whole set of more than 100", len(names))
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			data, err := icons.SVG(name)
			if err != nil {
				t.Fatal(err)
			}
			var root struct {
				XMLName xml.Name
				ViewBox string `xml:"viewBox,attr"`
			}
			if err := xml.Unmarshal(data, &root); err != nil {
				t.Fatal(err)
			}
			if root.XMLName.Local != "svg" || root.ViewBox == "" {
				t.Errorf("root is %q with viewBox %q", root.XMLName.Local, root.ViewBox)
			}
		})
	}
}

func TestUnknownIcon(t *testing.T) {
	for _, name := range []string{"", "no-such-icon", "../icons", "a/b", "add.svg"} {
		if _, err := icons.SVG(name); !errors.Is(err, icons.ErrUnknown) {
			t.Errorf("SVG(%q) = %v, want ErrUnknown", name, err)
		}
	}
}
