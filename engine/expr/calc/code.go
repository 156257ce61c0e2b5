package calc

import (
	"strings"
	"sync"

	"sluice/engine/batch"
)

// Code names a calculation as files store it.
type Code string

// Codes that other code refers to.
const (
	None     Code = "-"
	Constant Code = "CONSTANT"
	Copy     Code = "COPY_FIELD"
)

// canonical maps the spellings of older files.
func (c Code) canonical() Code {
	u := Code(strings.ToUpper(strings.TrimSpace(string(c))))
	switch u {
	case "", "NONE":
		return None
	case "COPY_OF_FIELD":
		return Copy
	case "NEEDLEMAN_WUNSCH":
		return "NEEDLEMAN_WUNSH"
	}
	return u
}

// operation is one kind of calculation: how many fields it needs and how it is
// compiled for them. compile gives the kernel and the type of its result.
type operation struct {
	code    Code
	label   string
	args    int
	compile func(p *Program, s *step) (kernel, batch.Type, error)
}

// operations by code.
var operations = sync.OnceValue(func() map[Code]*operation {
	m := map[Code]*operation{}
	for i := range operationList {
		m[operationList[i].code] = &operationList[i]
	}
	return m
})

// Choice is a code with what a person reads.
type Choice struct {
	Code   Code
	Label  string
	Fields int // how many fields it takes
}

// Codes lists all calculations in the order forms show them.
func Codes() []Choice {
	list := make([]Choice, len(operationList))
	for i, o := range operationList {
		list[i] = Choice{o.code, o.label, o.args}
	}
	return list
}

// The order is that of the list forms show.
var operationList = []operation{
	{None, "-", 0, nothing},
	{Constant, "Set field to constant A", 1, constantKernel},
	{Copy, "Create a copy of field A", 1, copyKernel},
	{"ADD", "A + B", 2, arithmetic(opAdd)},
	{"SUBTRACT", "A - B", 2, arithmetic(opSubtract)},
	{"MULTIPLY", "A * B", 2, arithmetic(opMultiply)},
	{"DIVIDE", "A / B", 2, arithmetic(opDivide)},
	{"SQUARE", "A * A", 1, squareKernel},
	{"SQUARE_ROOT", "SQRT( A )", 1, squareRoot},
	{"PERCENT_1", "100 * A / B", 2, percent(opPercent1)},
	{"PERCENT_2", "A - ( A * B / 100 )", 2, percent(opPercent2)},
	{"PERCENT_3", "A + ( A * B / 100 )", 2, percent(opPercent3)},
	{"COMBINATION_1", "A + B * C", 3, combination1},
	{"COMBINATION_2", "SQRT( A*A + B*B )", 2, combination2},
	{"ROUND_1", "ROUND( A )", 1, rounded(halfCeiling, noPlaces)},
	{"ROUND_2", "ROUND( A, B )", 2, rounded(halfCeiling, placesB)},
	{"ROUND_STD_1", "ROUND half away from zero( A )", 1, rounded(halfUp, noPlaces)},
	{"ROUND_STD_2", "ROUND half away from zero( A, B )", 2, rounded(halfUp, placesB)},
	{"ROUND_CUSTOM_1", "ROUND( A ) by mode B", 2, rounded(modeB, noPlaces)},
	{"ROUND_CUSTOM_2", "ROUND( A, B ) by mode C", 3, rounded(modeC, placesB)},
	{"CEIL", "CEIL( A )", 1, whole(ceilOp)},
	{"FLOOR", "FLOOR( A )", 1, whole(floorOp)},
	{"ABS", "Absolute value ABS( A )", 1, whole(absOp)},
	{"REMAINDER", "Remainder of A / B", 2, arithmetic(opRemainder)},
	{"NVL", "NVL( A, B )", 2, nvl},
	{"ADD3", "A + B + C", 3, add3},

	{"ADD_DAYS", "Date A + B days", 2, addTo(days)},
	{"ADD_HOURS", "Date A + B hours", 2, addTo(hours)},
	{"ADD_MINUTES", "Date A + B minutes", 2, addTo(minutes)},
	{"ADD_SECONDS", "Date A + B seconds", 2, addTo(seconds)},
	{"ADD_MONTHS", "Date A + B months", 2, addMonths},
	{"YEAR_OF_DATE", "Year of date A", 1, datePart(yearOf)},
	{"MONTH_OF_DATE", "Month of date A", 1, datePart(monthOf)},
	{"DAY_OF_YEAR", "Day of year of date A", 1, datePart(dayOfYear)},
	{"DAY_OF_MONTH", "Day of month of date A", 1, datePart(dayOfMonth)},
	{"DAY_OF_WEEK", "Day of week of date A", 1, datePart(dayOfWeek)},
	{"WEEK_OF_YEAR", "Week of year of date A", 1, datePart(WeekOfYear)},
	{"WEEK_OF_YEAR_ISO8601", "ISO8601 week of year of date A", 1, datePart(isoWeek)},
	{"YEAR_OF_DATE_ISO8601", "ISO8601 year of date A", 1, datePart(isoYear)},
	{"QUARTER_OF_DATE", "Quarter of date A", 1, datePart(quarterOf)},
	{"HOUR_OF_DAY", "Hour of day of date A", 1, datePart(hourOf)},
	{"MINUTE_OF_HOUR", "Minute of hour of date A", 1, datePart(minuteOf)},
	{"SECOND_OF_MINUTE", "Second of minute of date A", 1, datePart(secondOf)},
	{"DATE_DIFF", "Date A - Date B (in days)", 2, dateDiff(msPerDay)},
	{"DATE_DIFF_HR", "Date A - Date B (in hours)", 2, dateDiff(msPerHour)},
	{"DATE_DIFF_MN", "Date A - Date B (in minutes)", 2, dateDiff(msPerMinute)},
	{"DATE_DIFF_SEC", "Date A - Date B (in seconds)", 2, dateDiff(msPerSecond)},
	{"DATE_DIFF_MSEC", "Date A - Date B (in milliseconds)", 2, dateDiff(1)},
	{"DATE_WORKING_DIFF", "Date A - Date B (working days)", 2, workingDiff},
	{"REMOVE_TIME_FROM_DATE", "Remove time from date A", 1, dateTo(startOfDay)},
	{"FIRST_DAY_OF_MONTH", "First day of month of date A", 1, dateTo(firstOfMonth)},
	{"LAST_DAY_OF_MONTH", "Last day of month of date A", 1, dateTo(lastOfMonth)},
	{"ADD_TIME_TO_DATE", "Date A + time of day B with mask C", 2, addTime},

	{"STRING_LEN", "Length of string A", 1, lengthKernel},
	{"UPPER_CASE", "Upper case of string A", 1, textTo(strings.ToUpper)},
	{"LOWER_CASE", "Lower case of string A", 1, textTo(strings.ToLower)},
	{"INIT_CAP", "Initial capitals of string A", 1, textTo(InitCap)},
	{"REMOVE_CR", "Remove CR from string A", 1, textTo(without("\r"))},
	{"REMOVE_LF", "Remove LF from string A", 1, textTo(without("\n"))},
	{"REMOVE_CRLF", "Remove CR and LF from string A", 1, textTo(without("\r\n"))},
	{"REMOVE_TAB", "Remove tabs from string A", 1, textTo(without("\t"))},
	{"GET_ONLY_DIGITS", "Only the digits of string A", 1, textTo(onlyDigits)},
	{"REMOVE_DIGITS", "Remove digits from string A", 1, textTo(removeDigits)},
	{"MASK_XML", "Mask XML content of string A", 1, textTo(MaskXML)},
	{"UNESCAPE_XML", "Unescape XML content of string A", 1, textTo(UnescapeXML)},
	{"USE_CDATA", "Wrap string A in CDATA", 1, textTo(useCDATA)},
	{"ESCAPE_HTML", "Escape HTML content of string A", 1, textTo(EscapeHTML)},
	{"UNESCAPE_HTML", "Unescape HTML content of string A", 1, textTo(UnescapeHTML)},
	{"ESCAPE_SQL", "Escape SQL content of string A", 1, textTo(escapeSQL)},
	{"URL_ENCODE", "URL encode string A", 1, textTo(URLEncode)},
	{"URL_DECODE", "URL decode string A", 1, textOrError(URLDecode)},
	{"BASE64_ENCODE", "Base64 encode string A", 1, base64Encode(false)},
	{"BASE64_ENCODE_PADDED", "Base64 encode string A, padded", 1, base64Encode(true)},
	{"BASE64_DECODE", "Base64 decode string A", 1, textOrError(base64Decode)},
	{"BYTE_TO_HEX_ENCODE", "Byte to hex encode string A", 1, textTo(byteToHex)},
	{"HEX_TO_BYTE_DECODE", "Hex to byte decode string A", 1, textOrError(hexToByte)},
	{"CHAR_TO_HEX_ENCODE", "Char to hex encode string A", 1, textTo(charToHex)},
	{"HEX_TO_CHAR_DECODE", "Hex to char decode string A", 1, textOrError(hexToChar)},
	{"SUBSTITUTE_VARIABLE", "Variable substitution in string A", 1, substituteVariables},
	{"CHECK_XML_WELL_FORMED", "Is string A well-formed XML?", 1, xmlWellFormed},

	{"CRC32", "CRC-32 of file A", 1, fileKernel(crc32File, batch.Integer)},
	{"ADLER32", "Adler-32 of file A", 1, fileKernel(adler32File, batch.Integer)},
	{"MD5", "MD5 of file A", 1, fileKernel(digestFile("MD5"), batch.String)},
	{"SHA1", "SHA-1 of file A", 1, fileKernel(digestFile("SHA1"), batch.String)},
	{"SHA256", "SHA-256 of file A", 1, fileKernel(digestFile("SHA256"), batch.String)},
	{"SHA384", "SHA-384 of file A", 1, fileKernel(digestFile("SHA384"), batch.String)},
	{"SHA512", "SHA-512 of file A", 1, fileKernel(digestFile("SHA512"), batch.String)},
	{"LOAD_FILE_CONTENT_BINARY", "Load content of file A", 1, fileKernel(loadFile, batch.Binary)},
	{"GET_FILE_ENCODING", "Encoding of file A", 1, fileKernel(encodingOfFile, batch.String)},
	{"CHECK_XML_FILE_WELL_FORMED", "Is file A well-formed XML?", 1, fileKernel(xmlFile, batch.Boolean)},

	{"LEVENSHTEIN_DISTANCE", "Levenshtein distance of A and B", 2, distance(Levenshtein)},
	{"DAMERAU_LEVENSHTEIN", "Damerau-Levenshtein distance of A and B", 2, distance(DamerauLevenshtein)},
	{"NEEDLEMAN_WUNSH", "Needleman-Wunsch distance of A and B", 2, distance(NeedlemanWunsch)},
	{"JARO", "Jaro similarity of A and B", 2, similarity(Jaro)},
	{"JARO_WINKLER", "Jaro-Winkler similarity of A and B", 2, similarity(JaroWinkler)},
	{"METAPHONE", "Metaphone of A", 1, textTo(Metaphone)},
	{"DOUBLE_METAPHONE", "Double Metaphone of A", 1, textTo(DoubleMetaphone)},
	{"SOUNDEX", "SoundEx of A", 1, textTo(Soundex)},
	{"REFINED_SOUNDEX", "Refined SoundEx of A", 1, textTo(RefinedSoundex)},
}
