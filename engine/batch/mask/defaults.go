package mask

import "strings"

// Kind is the type of a value for which a default mask is asked.
type Kind uint8

// The kinds that have a default mask.
const (
	Integer Kind = iota
	Number
	BigNumber
	Date
	Timestamp
)

// DefaultFormat returns the mask by which Hop writes a field that has none.
// length and precision are the field's, -1 when not given: a length makes number
// masks of fixed width, as in " 000;-000".
func DefaultFormat(k Kind, length, precision int) string {
	if length > 0 && k <= BigNumber {
		return fixedWidth(k, length, precision)
	}
	switch k {
	case Integer:
		return "####0;-####0"
	case Number:
		return "####0.0#########;-####0.0#########"
	case BigNumber:
		return "######0.0###################;-######0.0###################"
	}
	return DefaultParse(k, length, precision)
}

// DefaultParse returns the mask by which Hop reads a text into a field that has
// none; parameters as DefaultFormat.
func DefaultParse(k Kind, length, precision int) string {
	if length > 0 && k <= BigNumber {
		return fixedWidth(k, length, precision)
	}
	switch k {
	case Integer:
		return "####0"
	case Number:
		return "####0.0#########"
	case BigNumber:
		return "######0.0###################"
	case Timestamp:
		return "yyyy/MM/dd HH:mm:ss.SSSSSSSSS"
	}
	return "yyyy/MM/dd HH:mm:ss.SSS"
}

// maxMaskLength keeps a wrong length in a file from building a huge mask.
const maxMaskLength = 1000

func fixedWidth(k Kind, length, precision int) string {
	length = min(length, maxMaskLength)
	var body string
	switch {
	case k == Integer:
		body = strings.Repeat("0", length)
	case precision < 0:
		body = strings.Repeat("0", length) + ".00"
	default:
		digits := []byte(strings.Repeat("0", length+1))
		// Position length-precision+1 counts the leading blank as position 0.
		if at := length - precision; at >= 0 && at < len(digits) {
			digits[at] = '.'
		}
		body = string(digits)
	}
	return " " + body + ";-" + body
}
