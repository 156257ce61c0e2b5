package generate

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/brianvoe/gofakeit/v7"

	"sluice/engine/batch"
)

// fakeTopic makes values of one type. prepare reads the arguments of the file once.
type fakeTopic struct {
	typ     batch.Type
	prepare func(args []string) (func(*fakeSource) batch.Value, error)
}

// oldProviders maps the names that older files give to providers to those of the
// current release, both in lower case.
var oldProviders = map[string]string{"dateandtime": "date", "elder": "elderscrolls"}

func fakeText(f func(*gofakeit.Faker) string) fakeTopic {
	return fakeTopic{batch.String, func([]string) (func(*fakeSource) batch.Value, error) {
		return func(s *fakeSource) batch.Value { return batch.StringValue(f(s.Faker)) }, nil
	}}
}

func fakeJoined(separator string, parts ...func(*gofakeit.Faker) string) fakeTopic {
	return fakeText(func(f *gofakeit.Faker) string {
		texts := make([]string, len(parts))
		for i, part := range parts {
			texts[i] = part(f)
		}
		return strings.Join(texts, separator)
	})
}

// fakeNumber is an Integer between two bounds, the upper one excluded; arguments
// of the file take their place.
func fakeNumber(low, high int64) fakeTopic {
	return fakeTopic{batch.Integer, func(args []string) (func(*fakeSource) batch.Value, error) {
		low, high := low, high
		for i, to := range []*int64{&low, &high} {
			if i < len(args) && args[i] != "" {
				n, err := strconv.ParseInt(strings.TrimSpace(args[i]), 10, 64)
				if err != nil {
					return nil, fmt.Errorf("argument %d: %q is not a whole number", i+1, args[i])
				}
				*to = n
			}
		}
		if high <= low {
			return func(*fakeSource) batch.Value { return batch.IntegerValue(low) }, nil
		}
		return func(s *fakeSource) batch.Value {
			return batch.IntegerValue(low + int64(s.random.Uint64N(uint64(high-low))))
		}, nil
	}}
}

// fakeDouble takes the number of decimals, the lowest and the highest value.
func fakeDouble(args []string) (func(*fakeSource) batch.Value, error) {
	numbers := [3]float64{2, 0, 1000}
	for i := range numbers {
		if i < len(args) && args[i] != "" {
			v, err := strconv.ParseFloat(strings.TrimSpace(args[i]), 64)
			if err != nil {
				return nil, fmt.Errorf("argument %d: %q is not a number", i+1, args[i])
			}
			numbers[i] = v
		}
	}
	unit := math.Pow(10, numbers[0])
	return func(s *fakeSource) batch.Value {
		v := numbers[1] + s.random.Float64()*(numbers[2]-numbers[1])
		return batch.NumberValue(math.Round(v*unit) / unit)
	}, nil
}

// fakeDate is a Date between two distances from now, in days.
func fakeDate(from, to int) fakeTopic {
	return fakeTopic{batch.Date, func([]string) (func(*fakeSource) batch.Value, error) {
		return func(s *fakeSource) batch.Value {
			low, high := s.now().AddDate(0, 0, from), s.now().AddDate(0, 0, to)
			return batch.DateValue(low.Add(time.Duration(s.random.Int64N(int64(high.Sub(low))))).UnixMilli())
		}, nil
	}}
}

func fakeDigest(sum func([]byte) []byte) fakeTopic {
	return fakeText(func(f *gofakeit.Faker) string { return hex.EncodeToString(sum([]byte(f.UUID()))) })
}

var fakeFlag = fakeTopic{batch.Boolean, func([]string) (func(*fakeSource) batch.Value, error) {
	return func(s *fakeSource) batch.Value { return batch.BooleanValue(s.Bool()) }, nil
}}

// words stand in for topics that are not known.
var words = fakeText(func(f *gofakeit.Faker) string { return f.Adjective() + " " + f.Noun() })

func digits(n uint) func(*gofakeit.Faker) string {
	return func(f *gofakeit.Faker) string { return f.DigitN(n) }
}

func sentence(f *gofakeit.Faker) string { return f.LoremIpsumSentence(8) }

func paragraph(f *gofakeit.Faker) string { return f.LoremIpsumParagraph(1, 4, 8, " ") }

// The methods of the library by shorter names.
var (
	firstName = (*gofakeit.Faker).FirstName
	lastName  = (*gofakeit.Faker).LastName
	username  = (*gofakeit.Faker).Username
	domain    = (*gofakeit.Faker).DomainName
)

// fakeTopics lists the topics by provider and method of Hop's library, in lower case.
var fakeTopics = map[string]fakeTopic{
	"name.firstname":       fakeText(firstName),
	"name.malefirstname":   fakeText(firstName),
	"name.femalefirstname": fakeText(firstName),
	"name.lastname":        fakeText(lastName),
	"name.name":            fakeJoined(" ", firstName, lastName),
	"name.fullname":        fakeJoined(" ", firstName, lastName),
	"name.namewithmiddle":  fakeJoined(" ", firstName, (*gofakeit.Faker).MiddleName, lastName),
	"name.prefix":          fakeText((*gofakeit.Faker).NamePrefix),
	"name.suffix":          fakeText((*gofakeit.Faker).NameSuffix),
	"name.title":           fakeText((*gofakeit.Faker).JobTitle),
	"name.username":        fakeText(username),
	"name.bloodgroup": fakeText(func(f *gofakeit.Faker) string {
		return f.RandomString([]string{"A+", "A-", "B+", "B-", "AB+", "AB-", "0+", "0-"})
	}),
	"funnyname.name":              fakeJoined(" ", (*gofakeit.Faker).Adjective, lastName),
	"internet.username":           fakeText(username),
	"internet.emailaddress":       fakeText((*gofakeit.Faker).Email),
	"internet.safeemailaddress":   fakeText((*gofakeit.Faker).Email),
	"internet.domainname":         fakeText(domain),
	"internet.domainsuffix":       fakeText((*gofakeit.Faker).DomainSuffix),
	"internet.domainword":         fakeText(func(f *gofakeit.Faker) string { word, _, _ := strings.Cut(f.DomainName(), "."); return word }),
	"internet.url":                fakeText((*gofakeit.Faker).URL),
	"internet.password":           fakeText(func(f *gofakeit.Faker) string { return f.Password(true, true, true, false, false, 12) }),
	"internet.ipv4address":        fakeText((*gofakeit.Faker).IPv4Address),
	"internet.publicipv4address":  fakeText((*gofakeit.Faker).IPv4Address),
	"internet.ipv6address":        fakeText((*gofakeit.Faker).IPv6Address),
	"internet.macaddress":         fakeText((*gofakeit.Faker).MacAddress),
	"internet.uuid":               fakeText((*gofakeit.Faker).UUID),
	"internet.slug":               fakeText(func(f *gofakeit.Faker) string { return f.UrlSlug(3) }),
	"internet.useragentany":       fakeText((*gofakeit.Faker).UserAgent),
	"internet.httpmethod":         fakeText((*gofakeit.Faker).HTTPMethod),
	"phonenumber.phonenumber":     fakeText((*gofakeit.Faker).PhoneFormatted),
	"phonenumber.cellphone":       fakeText((*gofakeit.Faker).PhoneFormatted),
	"phonenumber.extension":       fakeText(digits(4)),
	"address.city":                fakeText((*gofakeit.Faker).City),
	"address.cityname":            fakeText((*gofakeit.Faker).City),
	"address.state":               fakeText((*gofakeit.Faker).State),
	"address.stateabbr":           fakeText((*gofakeit.Faker).StateAbr),
	"address.country":             fakeText((*gofakeit.Faker).Country),
	"address.countrycode":         fakeText((*gofakeit.Faker).CountryAbr),
	"address.streetname":          fakeText((*gofakeit.Faker).StreetName),
	"address.streetsuffix":        fakeText((*gofakeit.Faker).StreetSuffix),
	"address.streetprefix":        fakeText((*gofakeit.Faker).StreetPrefix),
	"address.streetaddress":       fakeText((*gofakeit.Faker).Street),
	"address.streetaddressnumber": fakeText((*gofakeit.Faker).StreetNumber),
	"address.buildingnumber":      fakeText((*gofakeit.Faker).StreetNumber),
	"address.secondaryaddress":    fakeText((*gofakeit.Faker).Unit),
	"address.zipcode":             fakeText((*gofakeit.Faker).Zip),
	"address.postcode":            fakeText((*gofakeit.Faker).Zip),
	"address.fulladdress":         fakeText(func(f *gofakeit.Faker) string { return f.Address().Address }),
	"address.latitude":            fakeText(func(f *gofakeit.Faker) string { return strconv.FormatFloat(f.Latitude(), 'f', 8, 64) }),
	"address.longitude":           fakeText(func(f *gofakeit.Faker) string { return strconv.FormatFloat(f.Longitude(), 'f', 8, 64) }),
	"address.timezone":            fakeText((*gofakeit.Faker).TimeZoneRegion),
	"country.name":                fakeText((*gofakeit.Faker).Country),
	"country.countrycode2":        fakeText((*gofakeit.Faker).CountryAbr),
	"nation.language":             fakeText((*gofakeit.Faker).Language),
	"book.title":                  fakeText((*gofakeit.Faker).BookTitle),
	"book.author":                 fakeText((*gofakeit.Faker).BookAuthor),
	"book.genre":                  fakeText((*gofakeit.Faker).BookGenre),
	"book.publisher":              fakeText((*gofakeit.Faker).Company),
	"company.name":                fakeText((*gofakeit.Faker).Company),
	"company.suffix":              fakeText((*gofakeit.Faker).CompanySuffix),
	"company.industry":            fakeText((*gofakeit.Faker).ProductCategory),
	"company.profession":          fakeText((*gofakeit.Faker).JobTitle),
	"company.buzzword":            fakeText((*gofakeit.Faker).BuzzWord),
	"company.catchphrase":         fakeText((*gofakeit.Faker).Slogan),
	"company.bs":                  fakeText((*gofakeit.Faker).BS),
	"company.url":                 fakeText((*gofakeit.Faker).URL),
	"business.creditcardnumber":   fakeText(func(f *gofakeit.Faker) string { return f.CreditCardNumber(nil) }),
	"business.creditcardtype":     fakeText((*gofakeit.Faker).CreditCardType),
	"business.creditcardexpiry":   fakeText((*gofakeit.Faker).CreditCardExp),
	"finance.creditcard":          fakeText(func(f *gofakeit.Faker) string { return f.CreditCardNumber(nil) }),
	"finance.bic":                 fakeText(func(f *gofakeit.Faker) string { return strings.ToUpper(f.LetterN(8)) }),
	"finance.iban":                fakeText(func(f *gofakeit.Faker) string { return "DE" + f.DigitN(20) }),
	"currency.name":               fakeText((*gofakeit.Faker).CurrencyLong),
	"currency.code":               fakeText((*gofakeit.Faker).CurrencyShort),
	"stock.nsdqsymbol":            fakeText(func(f *gofakeit.Faker) string { return strings.ToUpper(f.LetterN(4)) }),
	"commerce.productname":        fakeText((*gofakeit.Faker).ProductName),
	"commerce.department":         fakeText((*gofakeit.Faker).ProductCategory),
	"commerce.material":           fakeText((*gofakeit.Faker).ProductMaterial),
	"commerce.price":              fakeText(func(f *gofakeit.Faker) string { return strconv.FormatFloat(f.Price(0, 100), 'f', 2, 64) }),
	"commerce.promotioncode":      fakeText(func(f *gofakeit.Faker) string { return f.Adjective() + f.DigitN(6) }),
	"code.isbn10":                 fakeText(func(f *gofakeit.Faker) string { return f.ProductISBN(&gofakeit.ISBNOptions{Version: "10"}) }),
	"code.isbn13":                 fakeText(func(f *gofakeit.Faker) string { return f.ProductISBN(&gofakeit.ISBNOptions{Version: "13"}) }),
	"code.ean13":                  fakeText(digits(13)),
	"code.ean8":                   fakeText(digits(8)),
	"code.asin":                   fakeText(func(f *gofakeit.Faker) string { return "B" + strings.ToUpper(f.LetterN(9)) }),
	"idnumber.valid":              fakeText((*gofakeit.Faker).SSN),
	"idnumber.ssnvalid":           fakeText((*gofakeit.Faker).SSN),
	"job.title":                   fakeText((*gofakeit.Faker).JobTitle),
	"job.position":                fakeText((*gofakeit.Faker).JobLevel),
	"job.field":                   fakeText((*gofakeit.Faker).JobDescriptor),
	"university.name":             fakeText((*gofakeit.Faker).School),
	"educator.university":         fakeText((*gofakeit.Faker).School),
	"educator.secondaryschool":    fakeText((*gofakeit.Faker).School),
	"color.name":                  fakeText((*gofakeit.Faker).Color),
	"color.hex":                   fakeText((*gofakeit.Faker).HexColor),
	"lorem.word":                  fakeText((*gofakeit.Faker).Noun),
	"lorem.sentence":              fakeText(sentence),
	"lorem.paragraph":             fakeText(paragraph),
	"lorem.characters":            fakeText(func(f *gofakeit.Faker) string { return f.LetterN(255) }),
	"number.randomdigit":          fakeNumber(0, 10),
	"number.randomdigitnotzero":   fakeNumber(1, 10),
	"number.digit":                fakeText(digits(1)),
	"number.digits":               fakeText(digits(10)),
	"number.positive":             fakeNumber(1, math.MaxInt32),
	"number.negative":             fakeNumber(math.MinInt32, 0),
	"number.randomnumber":         fakeNumber(0, 1e9),
	"number.numberbetween":        fakeNumber(0, math.MaxInt32),
	"number.randomdouble":         {batch.Number, fakeDouble},
	"bool.bool":                   fakeFlag,
	"date.birthday":               fakeDate(-65*365, -18*365),
	"date.past":                   fakeDate(-365, 0),
	"date.future":                 fakeDate(1, 365),
	"date.between":                fakeDate(-365, 365),
	"crypto.md5":                  fakeDigest(func(b []byte) []byte { s := md5.Sum(b); return s[:] }),
	"crypto.sha1":                 fakeDigest(func(b []byte) []byte { s := sha1.Sum(b); return s[:] }),
	"crypto.sha256":               fakeDigest(func(b []byte) []byte { s := sha256.Sum256(b); return s[:] }),
	"crypto.sha512":               fakeDigest(func(b []byte) []byte { s := sha512.Sum512(b); return s[:] }),
	"hash.md5":                    fakeDigest(func(b []byte) []byte { s := md5.Sum(b); return s[:] }),
	"hash.sha256":                 fakeDigest(func(b []byte) []byte { s := sha256.Sum256(b); return s[:] }),
	"app.name":                    fakeText((*gofakeit.Faker).AppName),
	"app.version":                 fakeText((*gofakeit.Faker).AppVersion),
	"app.author":                  fakeText((*gofakeit.Faker).AppAuthor),
	"file.filename":               fakeJoined(".", (*gofakeit.Faker).Noun, (*gofakeit.Faker).FileExtension),
	"file.extension":              fakeText((*gofakeit.Faker).FileExtension),
	"file.mimetype":               fakeText((*gofakeit.Faker).FileMimeType),
	"food.ingredient":             fakeText((*gofakeit.Faker).Vegetable),
	"food.fruit":                  fakeText((*gofakeit.Faker).Fruit),
	"food.fruits":                 fakeText((*gofakeit.Faker).Fruit),
	"food.vegetable":              fakeText((*gofakeit.Faker).Vegetable),
	"food.vegetables":             fakeText((*gofakeit.Faker).Vegetable),
	"food.dish":                   fakeText((*gofakeit.Faker).Dinner),
	"beer.name":                   fakeText((*gofakeit.Faker).BeerName),
	"beer.style":                  fakeText((*gofakeit.Faker).BeerStyle),
	"beer.hop":                    fakeText((*gofakeit.Faker).BeerHop),
	"beer.yeast":                  fakeText((*gofakeit.Faker).BeerYeast),
	"beer.malt":                   fakeText((*gofakeit.Faker).BeerMalt),
	"cat.name":                    fakeText((*gofakeit.Faker).PetName),
	"cat.breed":                   fakeText((*gofakeit.Faker).Cat),
	"dog.name":                    fakeText((*gofakeit.Faker).PetName),
	"dog.breed":                   fakeText((*gofakeit.Faker).Dog),
	"animal.name":                 fakeText((*gofakeit.Faker).Animal),
	"hacker.abbreviation":         fakeText((*gofakeit.Faker).HackerAbbreviation),
	"hacker.adjective":            fakeText((*gofakeit.Faker).HackerAdjective),
	"hacker.noun":                 fakeText((*gofakeit.Faker).HackerNoun),
	"hacker.verb":                 fakeText((*gofakeit.Faker).HackerVerb),
	"hacker.ingverb":              fakeText((*gofakeit.Faker).HackeringVerb),
	"hipster.word":                fakeText((*gofakeit.Faker).HipsterWord),
	"music.genre":                 fakeText((*gofakeit.Faker).SongGenre),
	"rockband.name":               fakeText((*gofakeit.Faker).SongArtist),
	"artist.name":                 fakeText((*gofakeit.Faker).SongArtist),
	"aviation.airport":            fakeText((*gofakeit.Faker).AirlineAirportIATA),
	"aviation.aircraft":           fakeText((*gofakeit.Faker).AirlineAirplane),
	"programminglanguage.name":    fakeText((*gofakeit.Faker).ProgrammingLanguage),
	"demographic.sex":             fakeText((*gofakeit.Faker).Gender),
	"demographic.race":            fakeText((*gofakeit.Faker).Ethnicity),
}
