package mask

import (
	"sort"
	"strings"
)

// locale holds what dates need of a language and region.
type locale struct {
	monthLong, monthShort, monthAlone [12]string
	dayLong, dayShort                 [7]string // Sunday first
	ampm, eras                        [2]string
	week                              weekRule

	months, days, halves, eraNames []nameValue // for parsing, longest first
	zones                          []nameValue // ms east of UTC
}

// nameValue is a text that parses to a number.
type nameValue struct {
	name  string
	value int
}

// language is the raw name table of a language, lists separated by '|'.
type language struct {
	monthLong, monthShort, monthAlone string // monthAlone empty: as monthShort
	dayLong, dayShort                 string
	ampm, eras                        string
}

// languages are the names of CLDR 39, which Java 17 uses.
var languages = map[string]language{
	"en": {
		monthLong:  "January|February|March|April|May|June|July|August|September|October|November|December",
		monthShort: "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec",
		dayLong:    "Sunday|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday",
		dayShort:   "Sun|Mon|Tue|Wed|Thu|Fri|Sat",
		ampm:       "AM|PM", eras: "BC|AD",
	},
	"en_GB": {
		monthLong:  "January|February|March|April|May|June|July|August|September|October|November|December",
		monthShort: "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept|Oct|Nov|Dec",
		dayLong:    "Sunday|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday",
		dayShort:   "Sun|Mon|Tue|Wed|Thu|Fri|Sat",
		ampm:       "am|pm", eras: "BC|AD",
	},
	"de": {
		monthLong:  "Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember",
		monthShort: "Jan.|Feb.|März|Apr.|Mai|Juni|Juli|Aug.|Sept.|Okt.|Nov.|Dez.",
		monthAlone: "Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez",
		dayLong:    "Sonntag|Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag",
		dayShort:   "So.|Mo.|Di.|Mi.|Do.|Fr.|Sa.",
		ampm:       "AM|PM", eras: "v. Chr.|n. Chr.",
	},
	"fr": {
		monthLong:  "janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre",
		monthShort: "janv.|févr.|mars|avr.|mai|juin|juil.|août|sept.|oct.|nov.|déc.",
		dayLong:    "dimanche|lundi|mardi|mercredi|jeudi|vendredi|samedi",
		dayShort:   "dim.|lun.|mar.|mer.|jeu.|ven.|sam.",
		ampm:       "AM|PM", eras: "av. J.-C.|ap. J.-C.",
	},
	"nl": {
		monthLong:  "januari|februari|maart|april|mei|juni|juli|augustus|september|oktober|november|december",
		monthShort: "jan.|feb.|mrt.|apr.|mei|jun.|jul.|aug.|sep.|okt.|nov.|dec.",
		dayLong:    "zondag|maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag",
		dayShort:   "zo|ma|di|wo|do|vr|za",
		ampm:       "a.m.|p.m.", eras: "v.Chr.|n.Chr.",
	},
	"es": {
		monthLong:  "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre",
		monthShort: "ene|feb|mar|abr|may|jun|jul|ago|sept|oct|nov|dic",
		dayLong:    "domingo|lunes|martes|miércoles|jueves|viernes|sábado",
		dayShort:   "dom|lun|mar|mié|jue|vie|sáb",
		ampm:       "a.\u00a0m.|p.\u00a0m.", eras: "a. C.|d. C.",
	},
	"it": {
		monthLong:  "gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre",
		monthShort: "gen|feb|mar|apr|mag|giu|lug|ago|set|ott|nov|dic",
		dayLong:    "domenica|lunedì|martedì|mercoledì|giovedì|venerdì|sabato",
		dayShort:   "dom|lun|mar|mer|gio|ven|sab",
		ampm:       "AM|PM", eras: "a.C.|d.C.",
	},
	"pt": {
		monthLong:  "janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro",
		monthShort: "jan.|fev.|mar.|abr.|mai.|jun.|jul.|ago.|set.|out.|nov.|dez.",
		dayLong:    "domingo|segunda-feira|terça-feira|quarta-feira|quinta-feira|sexta-feira|sábado",
		dayShort:   "dom.|seg.|ter.|qua.|qui.|sex.|sáb.",
		ampm:       "AM|PM", eras: "a.C.|d.C.",
	},
	"pt_PT": {
		monthLong:  "janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro",
		monthShort: "jan.|fev.|mar.|abr.|mai.|jun.|jul.|ago.|set.|out.|nov.|dez.",
		dayLong:    "domingo|segunda-feira|terça-feira|quarta-feira|quinta-feira|sexta-feira|sábado",
		dayShort:   "domingo|segunda|terça|quarta|quinta|sexta|sábado",
		ampm:       "da manhã|da tarde", eras: "a.C.|d.C.",
	},
}

// isoRegions begin weeks on Monday, and the first week has four days.
const isoRegions = " AD AN AT AX BE BG CH CZ DE DK EE ES FI FJ FO FR GB GF GG GI GP GR HU IE IM IS IT JE LI LT LU MC MQ NL NO PL RE RU SE SJ SK SM VA "

func weekRuleOf(region string) weekRule {
	switch {
	case region == "PT":
		return weekRule{firstDay: 1, minDays: 4}
	case region != "" && strings.Contains(isoRegions, " "+region+" "):
		return weekRule{firstDay: 2, minDays: 4}
	}
	return weekRule{firstDay: 1, minDays: 1}
}

// newLocale accepts "de", "de_DE", "de-DE" in any case.
func newLocale(id string) *locale {
	lang, region, _ := strings.Cut(strings.ReplaceAll(id, "-", "_"), "_")
	region, _, _ = strings.Cut(region, "_")
	lang, region = strings.ToLower(lang), strings.ToUpper(region)
	t, ok := languages[lang+"_"+region]
	if !ok {
		t, ok = languages[lang]
	}
	if !ok {
		t = languages["en"]
	}
	if t.monthAlone == "" {
		t.monthAlone = t.monthShort
	}
	l := &locale{week: weekRuleOf(region)}
	fill(l.monthLong[:], t.monthLong)
	fill(l.monthShort[:], t.monthShort)
	fill(l.monthAlone[:], t.monthAlone)
	fill(l.dayLong[:], t.dayLong)
	fill(l.dayShort[:], t.dayShort)
	fill(l.ampm[:], t.ampm)
	fill(l.eras[:], t.eras)
	l.months = nameIndex(1, l.monthLong[:], l.monthShort[:], l.monthAlone[:])
	l.days = nameIndex(1, l.dayLong[:], l.dayShort[:])
	l.halves = nameIndex(0, l.ampm[:])
	l.eraNames = nameIndex(0, l.eras[:])
	return l
}

func fill(dst []string, list string) { copy(dst, strings.Split(list, "|")) }

func nameIndex(first int, lists ...[]string) []nameValue {
	var all []nameValue
	for _, names := range lists {
		for i, name := range names {
			all = append(all, nameValue{name, first + i})
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return len(all[i].name) > len(all[j].name) })
	return all
}

// match finds the longest name, in any case, that text begins with.
func match(text []byte, names []nameValue) (value, width int) {
	for _, n := range names {
		if len(text) >= len(n.name) && strings.EqualFold(string(text[:len(n.name)]), n.name) {
			return n.value, len(n.name)
		}
	}
	return 0, 0
}
