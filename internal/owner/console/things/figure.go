package things

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/text"
)

// Measured writes a measurement for people: hours with minutes, and a unit unless the name has it.
func Measured(value float64, unit string) string {
	if unit == "h" && value >= 0 {
		minutes := int64(math.Round(value * 60))
		if minutes%60 == 0 {
			return fmt.Sprintf("%d h", minutes/60)
		}
		return strings.TrimPrefix(fmt.Sprintf("%d h %d min", minutes/60, minutes%60), "0 h ")
	}
	return Figure(value, -1) + After(" ", unit)
}

// Currency is the currency of an amount, or the unit that its stream declares.
func (t *Thing) Currency() string { return cmp.Or(t.Line("currency", 12), t.In.Display.Unit) }

// currencySigns are written before an amount.
var currencySigns = map[string]string{"EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥"}

// Money writes an amount with its currency.
func Money(amount float64, currency string) string {
	sign, known := currencySigns[strings.ToUpper(currency)]
	if !known {
		return Figure(amount, 2) + After(" ", currency)
	}
	line := Figure(amount, 2)
	if rest, below := strings.CutPrefix(line, "−"); below {
		return "−" + sign + rest
	}
	return sign + line
}

// After puts a separator before words, if there are any.
func After(separator, words string) string {
	if words == "" {
		return ""
	}
	return separator + words
}

// Figure writes a number for reading; digits below zero mean up to two as needed.
func Figure(n float64, digits int) string {
	line := strconv.FormatFloat(n, 'f', 2, 64)
	if digits < 0 {
		line = strings.TrimSuffix(strings.TrimRight(line, "0"), ".")
	}
	whole, fraction, found := strings.Cut(strings.TrimPrefix(line, "-"), ".")
	if v, err := strconv.ParseInt(whole, 10, 64); err == nil {
		whole = text.Number(v)
	}
	if found {
		whole += "." + fraction
	}
	if strings.HasPrefix(line, "-") {
		return "−" + whole
	}
	return whole
}

// Calm writes a word in capitals as others are written.
func Calm(name string) string {
	if name == strings.ToUpper(name) && !strings.Contains(name, " ") {
		return text.Upper(strings.ToLower(name))
	}
	return name
}
