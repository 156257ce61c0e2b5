package sheet

import (
	"archive/zip"
	"bytes"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"

	"github.com/xuri/excelize/v2"

	"sluice/engine/project"
)

// kind is the type of a cell's value.
type kind uint8

const (
	empty kind = iota
	boolean
	date
	label
	number
)

// cell is one value of a sheet. Dates are wall-clock times, kept as if in UTC.
type cell struct {
	kind kind
	text string
	num  float64 // of a number, or 0 and 1
	when time.Time
}

// blank says that a cell shows nothing.
func (c *cell) blank() bool { return c.kind == empty || (c.kind == label && c.text == "") }

// workbook is an open spreadsheet file. rows calls each with the rows of a sheet
// that hold something, in order; row numbers start at 0 and gaps are empty rows.
// cells is only valid during the call.
type workbook interface {
	sheets() []string
	rows(sheet string, each func(row int, cells []cell) error) error
}

var (
	zipMagic = []byte("PK\x03\x04")
	oleMagic = []byte{0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1}
)

// openWorkbook recognises a file by its content. The password is for encrypted
// files; others do not mind it.
func openWorkbook(data []byte, password project.Secret) (workbook, error) {
	if bytes.HasPrefix(data, oleMagic) {
		book, encrypted, err := openXLS(data, password)
		if !encrypted {
			return book, err
		}
		if password.IsEmpty() {
			return nil, fmt.Errorf("the file is encrypted; give its password")
		}
		plain, err := excelize.Decrypt(data, &excelize.Options{Password: password.Reveal()})
		if err != nil || !bytes.HasPrefix(plain, zipMagic) {
			return nil, fmt.Errorf("the file cannot be decrypted: the password is wrong")
		}
		data = plain
	}
	if !bytes.HasPrefix(data, zipMagic) {
		return nil, fmt.Errorf("the file is no .xlsx, .xls or .ods workbook")
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("the workbook's archive is damaged: %w", err)
	}
	if f, err := z.Open("content.xml"); err == nil {
		defer f.Close()
		return &odsBook{archive: z}, nil
	}
	return openXLSX(z)
}

const (
	dayMillis     = 24 * 60 * 60 * 1000
	days1904      = 1462
	leapBugSerial = 61 // serials below count a 29 February 1900 that never was
)

// serialDate gives the time of a serial day number as Excel shows it.
func serialDate(serial float64, from1904 bool) time.Time {
	if from1904 {
		serial += days1904
	}
	days := math.Floor(serial)
	ms := int64((serial-days)*dayMillis + 0.5)
	base := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	if days < leapBugSerial {
		base = base.AddDate(0, 0, 1)
	}
	return base.AddDate(0, 0, int(days)).Add(time.Duration(ms) * time.Millisecond)
}

// isDateFormat says whether a number format shows dates or times.
func isDateFormat(id int, code string) bool {
	switch {
	case id >= 14 && id <= 22, id >= 27 && id <= 36, id >= 45 && id <= 47, id >= 50 && id <= 58:
		return true
	case code == "" || strings.EqualFold(code, "general"):
		return false
	}
	code, _, _ = strings.Cut(code, ";")
	var plain strings.Builder
	for i := 0; i < len(code); i++ {
		switch c := code[i]; c {
		case '\\', '_', '*':
			i++
		case '"':
			if end := strings.IndexByte(code[i+1:], '"'); end >= 0 {
				i += end + 1
			}
		case '[':
			end := strings.IndexByte(code[i:], ']')
			if end < 0 {
				return false
			}
			if strings.Trim(strings.ToLower(code[i+1:i+end]), "hms") == "" {
				return true
			}
			i += end
		default:
			plain.WriteByte(c)
		}
	}
	text := strings.NewReplacer("AM/PM", "", "am/pm", "", "A/P", "", "a/p", "").Replace(plain.String())
	if !strings.ContainsAny(text, "yYmMdDhHsS") {
		return false
	}
	for _, r := range text {
		if !strings.ContainsRune("yYmMdDhHsST-/,. :0年月日時分秒'@", r) && !unicode.IsSpace(r) {
			return false
		}
	}
	return true
}
