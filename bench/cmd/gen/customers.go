package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

var segments = []string{"consumer", "corporate", "small business", "public"}

// writeCustomers writes the header and s.Customers customers in a shuffled order.
func writeCustomers(w io.Writer, s shape) error {
	if _, err := io.WriteString(w, "customer,name,segment,credit_limit,since\n"); err != nil {
		return err
	}
	r := random(s.Seed ^ 0x63757374)
	numbers := make([]int, s.Customers)
	for i := range numbers {
		j := r.below(i + 1)
		numbers[i] = numbers[j]
		numbers[j] = i + 1
	}
	first := time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, n := range numbers {
		name := title(words[r.below(len(words))]) + " " + title(words[r.below(len(words))])
		since := first.AddDate(0, 0, r.below(5000)).Format(time.DateOnly)
		_, err := fmt.Fprintf(w, "C%0*d,%s,%s,%d.00,%s\n", customerWidth, n, name, segments[r.below(len(segments))], 500*(1+r.below(40)), since)
		if err != nil {
			return err
		}
	}
	return nil
}

func title(word string) string { return strings.ToUpper(word[:1]) + word[1:] }
