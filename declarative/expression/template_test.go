package expression_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/declarative/expression"
)

// manySteps returns a template that needs more steps than allowed, without a long text.
func manySteps() string {
	digits := "[0,1,2,3,4,5,6,7,8,9]"
	open, closing := "", ""
	for i := range 5 {
		open += fmt.Sprintf("{%% for a%d in %s %%}", i, digits)
		closing += "{% endfor %}"
	}
	return open + "{{ a0 }}" + closing
}

func TestBounds(t *testing.T) {
	c := &expression.Context{}
	c.Set(expression.Config, parsed(t)(jsontext.Value(`{"long":"`+strings.Repeat("a", 60_000)+`"}`)))
	for name, row := range map[string]struct{ source, want string }{
		"steps":          {manySteps(), "steps"},
		"repeated text":  {"{{ 'abc' * 1000000 }}", "bytes"},
		"repeated list":  {"{{ [1] * 1000000 }}", "steps"},
		"replaced text":  {"{{ config.long.replace('a', config.long) }}", "bytes"},
		"filter replace": {"{{ config.long | replace('a', config.long) }}", "bytes"},
		"joined text":    {"{{ config.long.join(config.long) }}", "steps"},
		"concatenated":   {"{{ " + strings.Repeat("config.long ~ ", 20) + "'' }}", "bytes"},
		"output":         {strings.Repeat("{{ config.long }}", 20), "bytes"},
		"printed list":   {"{{ [" + strings.Repeat("config.long,", 20) + "] ~ '' }}", "bytes"},
		"power":          {"{{ 10 ** 10000 }}", "digits"},
		"power of power": {"{{ 9 ** (9 ** 9) }}", "digits"},
		"zfill":          {"{{ 'a'.zfill(99999999) }}", "bytes"},
		"wide format":    {"{{ '%9999999d' % 1 }}", "width"},
		"width of time":  {"{{ now_utc().strftime('%99999999999Y') }}", ""},
		"circle":         {"{% set a = [] %}{% set b = [a] %}{% set _ = a.append(b) %}{{ a }}", "itself"},
		"input changed":  {"{% set _ = config.update({'a': 1}) %}", "input"},
	} {
		t.Run(name, func(t *testing.T) {
			compiled, err := expression.Compile(row.source, everything)
			if err != nil {
				t.Fatal(err)
			}
			_, err = compiled.Entry(c)
			switch {
			case row.want == "" && err != nil:
				t.Errorf("got %v, want no error", err)
			case row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)):
				t.Errorf("got %v, want an error with %q", err, row.want)
			}
		})
	}
}

func TestBoundsOfSource(t *testing.T) {
	for name, source := range map[string]string{
		"length":   strings.Repeat("a", expression.MaxLength+1),
		"brackets": "{{ " + strings.Repeat("(", 300) + "1" + strings.Repeat(")", 300) + " }}",
		"nots":     "{{ " + strings.Repeat("not ", 1000) + "1 }}",
		"signs":    "{{ " + strings.Repeat("-", 1000) + "1 }}",
		"blocks":   strings.Repeat("{% if 1 %}", 150) + strings.Repeat("{% endif %}", 150),
	} {
		if _, err := expression.Compile(source, everything); err == nil {
			t.Errorf("%s: compiled, want an error", name)
		}
	}
	if _, err := expression.Compile(strings.Repeat("a", expression.MaxLength), everything); err != nil {
		t.Errorf("a template of the greatest length: %v", err)
	}
}

func TestCompileFindsUnknownNames(t *testing.T) {
	for source, want := range map[string]expression.UnknownError{
		"{{ now() }}":                           {Offset: 3, What: "function", Name: "now"},
		"{{ 1 | nosuch }}":                      {Offset: 7, What: "filter", Name: "nosuch"},
		"{{ [1] | map('nosuch') }}":             {Offset: 9, What: "filter", Name: "nosuch"},
		"{{ [1] | select('nosuch') }}":          {Offset: 9, What: "test", Name: "nosuch"},
		"{{ [1] | selectattr('a', 'nosuch') }}": {Offset: 9, What: "test", Name: "nosuch"},
		"{{ 1 is nosuch }}":                     {Offset: 8, What: "test", Name: "nosuch"},
		"{{ 'a'.nosuch() }}":                    {Offset: 13, What: "method", Name: "nosuch"},
		"{{ other.a }}":                         {Offset: 3, What: "variable", Name: "other"},
		"{{ record.a }}":                        {Offset: 3, What: "variable", Name: "record", Elsewhere: true},
		"{{ 1 if false else other }}":           {Offset: 19, What: "variable", Name: "other"},
		"{% include 'a' %}":                     {Offset: 3, What: "statement", Name: "include"},
	} {
		_, err := expression.Compile(source, expression.ScopeOf(expression.Config))
		var unknown *expression.UnknownError
		if !errors.As(err, &unknown) {
			t.Errorf("%s: got %v, want an UnknownError", source, err)
			continue
		}
		if diff := cmp.Diff(want, *unknown); diff != "" {
			t.Errorf("%s:\n%s", source, diff)
		}
	}
}

func TestCompileChecksArguments(t *testing.T) {
	for _, source := range []string{"{{ now_utc(1) }}", "{{ duration() }}", "{{ day_delta(1, nosuch=2) }}",
		"{{ 'a' | replace('a') }}", "{{ 'a' | lower(1) }}", "{{ format_datetime('a') }}", "{{ 'a' | regex_search('(') }}",
		"{{ 'a' | regex_search('(?=a)') }}", "{{ now_utc }}"} {
		if _, err := expression.Compile(source, everything); err == nil {
			t.Errorf("%s: compiled, want an error", source)
		}
	}
}

func TestPaths(t *testing.T) {
	compiled, err := expression.Compile("{{ config.credentials['token'] ~ config.get('a', {}).get('b') ~ record.c[0].d }}",
		everything)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, p := range compiled.Paths() {
		paths = append(paths, p.String())
	}
	want := []string{"config.credentials", "config.credentials.token", "config.a", "config.a.b", "record.c"}
	for _, path := range want {
		if !strings.Contains(" "+strings.Join(paths, " ")+" ", " "+path+" ") {
			t.Errorf("paths %v, want %s among them", paths, path)
		}
	}
	if !compiled.Uses().Has(expression.Config) || !compiled.Uses().Has(expression.Record) ||
		compiled.Uses().Has(expression.Response) {
		t.Errorf("uses %b", compiled.Uses())
	}
}

func TestIntegersKeepTheirDigits(t *testing.T) {
	c := &expression.Context{}
	c.Set(expression.Record, parsed(t)(jsontext.Value(`{"id":9007199254740993123456789}`)))
	compiled, err := expression.Compile("{{ record.id }}", everything)
	if err != nil {
		t.Fatal(err)
	}
	v, err := compiled.Value(c)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(v.AppendJSON(nil)); got != "9007199254740993123456789" {
		t.Errorf("got %s", got)
	}
}

func TestParseTime(t *testing.T) {
	for _, row := range []struct{ text, format, want string }{
		{"1700000000", "%s", "2023-11-14T22:13:20Z"},
		{"1700000000123", "%ms", "2023-11-14T22:13:20.123Z"},
		{"1700000000.5", "%s_as_float", "2023-11-14T22:13:20.5Z"},
		{"1700000000123456", "%epoch_microseconds", "2023-11-14T22:13:20.123456Z"},
		{"2024-01-31T10:20:30.123Z", "%Y-%m-%dT%H:%M:%S.%_msZ", "2024-01-31T10:20:30.123Z"},
		{"2024-01-31T10:20:30.123456+02:00", "%Y-%m-%dT%H:%M:%S.%f%z", "2024-01-31T10:20:30.123456+02:00"},
		{"2024-01-31", "%Y-%m-%d", "2024-01-31T00:00:00Z"},
		{"2024-01-31T10:20:30+0000", "%Y-%m-%dT%H:%M:%S+0000", "2024-01-31T10:20:30Z"},
		{"20240131", "%Y%m%d", "2024-01-31T00:00:00Z"},
		{"1/2/2024 3:04 PM", "%d/%m/%Y %I:%M %p", "2024-02-01T15:04:00Z"},
		{"31 january 2024", "%d %B %Y", "2024-01-31T00:00:00Z"},
		{"2024-366", "%Y-%j", "2024-12-31T00:00:00Z"},
		{"2024-01-31T10:20:30Z", "%Y-%m-%dT%H:%M:%S%z", "2024-01-31T10:20:30Z"},
		{"2024-02-30", "%Y-%m-%d", ""},
		{"2024-01-31 ", "%Y-%m-%d", ""},
		{"2024-01-31", "%Y-%m", ""},
		{"x", "%s", ""},
		{"2024", "%Q", ""},
		{"99999999999999999", "%s", ""},
	} {
		got, err := expression.ParseTime(row.text, row.format)
		if row.want == "" {
			if err == nil {
				t.Errorf("%q as %q: got %v, want an error", row.text, row.format, got)
			}
			continue
		}
		if err != nil || got.Format(time.RFC3339Nano) != row.want {
			t.Errorf("%q as %q: got %v, %v, want %s", row.text, row.format, got.Format(time.RFC3339Nano), err, row.want)
		}
	}
}

func TestDurations(t *testing.T) {
	start := time.Date(2024, 1, 31, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{"P1M": "2024-02-29T12:00:00Z", "P1Y": "2025-01-31T12:00:00Z",
		"P1D": "2024-02-01T12:00:00Z", "PT1.5H": "2024-01-31T13:30:00Z", "-P1W": "2024-01-24T12:00:00Z",
		"P13M": "2025-02-28T12:00:00Z"} {
		d, err := expression.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.After(start)
		if err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%s: got %v, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "P", "1D", "P1", "PD", "P1.5.5D", "P1DT1D", "p1d", "P99999999999999999D"} {
		if _, err := expression.ParseDuration(text); err == nil {
			t.Errorf("%q: want an error", text)
		}
	}
	d, _ := expression.ParseDuration("P9000Y")
	if _, err := d.After(start); err == nil {
		t.Error("the year 11024: want an error")
	}
}

func FuzzTemplate(f *testing.F) {
	vectors(f, func(_, _, source, _ string) { f.Add(source) })
	c := sampleContext(f, parsed(f))
	f.Fuzz(func(t *testing.T, source string) {
		compiled, err := expression.Compile(source, everything)
		if err != nil {
			return
		}
		v, err := compiled.Value(c)
		if err == nil && v.Kind() == expression.Undefined {
			t.Errorf("%q: the value is undefined", source)
		}
		if _, err := compiled.Bool(c); err == nil {
			_, _ = compiled.Entry(c)
		}
		if raw := jsontext.Value(v.AppendJSON(nil)); !raw.IsValid(jsontext.AllowInvalidUTF8(true),
			jsontext.AllowDuplicateNames(true)) {
			t.Errorf("%q: the value is not JSON: %s", source, raw)
		}
	})
}

func FuzzTime(f *testing.F) {
	f.Add("2024-01-31T10:20:30.5Z", "%Y-%m-%dT%H:%M:%S.%fZ")
	f.Add("1700000000", "%s")
	f.Add("1/2/24", "%d/%m/%y")
	f.Fuzz(func(t *testing.T, text, format string) {
		if parsed, err := expression.ParseTime(text, format); err == nil {
			_, _ = expression.FormatTime(parsed, format)
		}
		if d, err := expression.ParseDuration(text); err == nil {
			_, _ = d.Before(time.Date(2024, 1, 31, 0, 0, 0, 0, time.UTC))
		}
	})
}
