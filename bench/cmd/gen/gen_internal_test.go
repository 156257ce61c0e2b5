package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"strings"
	"testing"
)

// The files must never change by accident: numbers of different days are compared with each other.
func TestSameBytes(t *testing.T) {
	s := shape{Rows: 60_000, Customers: 1_000, Seed: 7}
	const wantOrders, wantCustomers = "5b4317c1d2b8d564d0620b5d6074a1f904cddb7567adbef43d92fd4191064957", "28b833586444e496fc159c5083acf315f41631aab7c5cd87a21480afa1ce6107"
	for name, workers := range map[string]int{"one worker": 1, "three workers": 3} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := writeOrders(&b, s, newPhrases(s.Seed), workers); err != nil {
				t.Fatal(err)
			}
			if got := sum(b.Bytes()); got != wantOrders {
				t.Errorf("orders.csv has SHA-256 %s, want %s", got, wantOrders)
			}
		})
	}
	var b bytes.Buffer
	if err := writeCustomers(&b, s); err != nil {
		t.Fatal(err)
	}
	if got := sum(b.Bytes()); got != wantCustomers {
		t.Errorf("customers.csv has SHA-256 %s, want %s", got, wantCustomers)
	}
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

func TestShares(t *testing.T) {
	s := shape{Rows: 100_000, Customers: 1_000, Seed: 11}
	var b bytes.Buffer
	if err := writeOrders(&b, s, newPhrases(s.Seed), 2); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(b.Bytes())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != s.Rows+1 {
		t.Fatalf("%d rows with the header, want %d", len(rows), s.Rows+1)
	}
	got := map[string]float64{}
	for _, row := range rows[1:] {
		if row[2] > "C0001000" {
			got["unknown customers"]++
		}
		if row[3] == "DE" {
			got["orders from DE"]++
		}
		if row[4] == "" {
			got["empty amounts"]++
		}
		if row[6] == "" {
			got["empty notes"]++
		}
		if strings.ContainsAny(row[6], `,"`) {
			got["quoted notes"]++
		}
	}
	for what, want := range map[string]float64{
		"unknown customers": 0.05, "orders from DE": 0.18, "empty amounts": 0.01, "empty notes": 0.30, "quoted notes": 0.10,
	} {
		if share := got[what] / float64(s.Rows); share < want*0.93 || share > want*1.07 {
			t.Errorf("%s: %.4f of the rows, want about %.2f", what, share, want)
		}
	}
}

func TestDistinct(t *testing.T) {
	s := shape{Rows: 60_000, Customers: 1_000, Seed: 7, Distinct: true}
	var b bytes.Buffer
	if err := writeOrders(&b, s, newPhrases(s.Seed), 2); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(b.Bytes())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != s.Rows+1 {
		t.Fatalf("%d rows with the header, want %d", len(rows), s.Rows+1)
	}
	seen := map[string]bool{}
	for i, row := range rows[1:] {
		for _, text := range []string{row[2], row[3], row[6]} {
			if text != "" && seen[text] {
				t.Fatalf("row %d: %q occurs twice", i+1, text)
			}
			seen[text] = true
		}
	}
	if plain := (shape{Rows: s.Rows, Customers: s.Customers, Seed: s.Seed}); plain.label() == s.label() {
		t.Error("the label does not tell the shapes apart")
	}
}
