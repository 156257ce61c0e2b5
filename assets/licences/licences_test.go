package licences_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/assets/licences"
)

func TestEveryLinkedModuleHasItsLicence(t *testing.T) {
	modules, err := licences.Linked("../..")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, m := range modules {
		want = append(want, m.Path+" "+m.Version)
	}
	for _, l := range licences.All() {
		if l.Text() == "" || l.Kind == "" {
			t.Errorf("%s: %q, %d bytes of text", l.Module, l.Kind, len(l.Text()))
		}
		if !strings.HasPrefix(l.Module, "font ") {
			got = append(got, l.Module+" "+l.Version)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("make licences brings the list up to date:\n%s", diff)
	}
}

func TestLicencesAreTold(t *testing.T) {
	for want, text := range map[string]string{
		"MIT":          "Permission is hereby granted, free of  charge, to any person",
		"Apache-2.0":   "Apache License\n Version 2.0, January 2004",
		"BSD-3-Clause": "Redistribution and use in source and\nbinary forms ... Neither the name of X",
		"BSD-2-Clause": "Redistribution and use in source and binary forms",
		"":             "GNU GENERAL PUBLIC LICENSE Version 3",
	} {
		if got := licences.Kind(text); got != want {
			t.Errorf("%q is told as %q", text, got)
		}
	}
	if licences.Forbids("GNU LESSER\n  GENERAL PUBLIC LICENSE") == "" || licences.Forbids("MIT License") != "" {
		t.Error("what may not be linked is not told")
	}
}
