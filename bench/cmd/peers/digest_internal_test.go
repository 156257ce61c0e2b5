package main

import (
	"strings"
	"testing"
)

const header = "id,ts,customer,country,amount,qty,note\n"

func TestDigestEqual(t *testing.T) {
	base := header + "1,2024-01-02 03:04:05.600,C1,DE,12.30,2,\n2,2024-01-02 03:04:06.000,C1,FR,,1,\"a, \"\"b\"\"\"\n"
	for name, same := range map[string]string{
		"another order of rows":   header + "2,2024-01-02 03:04:06.000,C1,FR,,1,\"a, \"\"b\"\"\"\n1,2024-01-02 03:04:05.600,C1,DE,12.30,2,\n",
		"another order of fields": "customer,id,ts,country,amount,qty,note\nC1,1,2024-01-02 03:04:05.600,DE,12.30,2,\nC1,2,2024-01-02 03:04:06.000,FR,,1,\"a, \"\"b\"\"\"\n",
		"shorter numbers, times":  header + "1,2024-01-02 03:04:05.6,C1,DE,12.3,2,\n2,2024-01-02 03:04:06,C1,FR,,1,\"a, \"\"b\"\"\"\n",
		"float noise":             header + "1,2024-01-02 03:04:05.6,C1,DE,12.300000000000001,2,\n2,2024-01-02 03:04:06,C1,FR,,1,\"a, \"\"b\"\"\"\n",
		"more enclosures":         header + "\"1\",\"2024-01-02 03:04:05.600\",C1,DE,12.30,2,\"\"\n2,2024-01-02 03:04:06.000,C1,FR,,1,\"a, \"\"b\"\"\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			if a, b := digest(t, base), digest(t, same); a != b {
				t.Errorf("digests differ:\n%s\n%s", a, b)
			}
		})
	}
}

func TestDigestDiffers(t *testing.T) {
	base := header + "1,2024-01-02 03:04:05.600,C1,DE,12.30,2,x\n"
	for name, other := range map[string]string{
		"a cent":         header + "1,2024-01-02 03:04:05.600,C1,DE,12.31,2,x\n",
		"a millisecond":  header + "1,2024-01-02 03:04:05.601,C1,DE,12.30,2,x\n",
		"a blank":        header + "1,2024-01-02 03:04:05.600,C1,DE,12.30,2,x \n",
		"a lost amount":  header + "1,2024-01-02 03:04:05.600,C1,DE,,2,x\n",
		"a doubled row":  base + "1,2024-01-02 03:04:05.600,C1,DE,12.30,2,x\n",
		"no row":         header,
		"moved contents": header + "1,2024-01-02 03:04:05.600,C1D,E,12.30,2,x\n",
	} {
		t.Run(name, func(t *testing.T) {
			if a, b := digest(t, base), digest(t, other); a == b {
				t.Errorf("digests are equal: %s", a)
			}
		})
	}
}

func TestDigestRefuses(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"wrong order of customers": {header + "1,2024-01-02 00:00:00,C2,DE,1,1,\n2,2024-01-01 00:00:00,C1,DE,1,1,\n", "out of order"},
		"wrong order of times":     {header + "1,2024-01-02 00:00:00.01,C1,DE,1,1,\n2,2024-01-02 00:00:00,C1,DE,1,1,\n", "out of order"},
		"missing column":           {"id,ts,customer,country,amount,qty\n", `column "note" is missing`},
		"extra column":             {"x," + header, "should have 7 columns"},
		"no header":                {"", "header"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := digestOf(strings.NewReader(c.in), orderColumns, true)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func digest(t *testing.T, in string) string {
	t.Helper()
	d, err := digestOf(strings.NewReader(in), orderColumns, false)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
