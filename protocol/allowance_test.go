package protocol

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var (
	shortText = rapid.StringMatching(`[a-zäß@.]{1,20}`)
	numbers   = rapid.Custom(func(t *rapid.T) Numbers {
		n := Numbers{}
		for _, name := range rapid.SliceOfN(rapid.StringMatching(`[a-z][a-z0-9_]{0,20}`), 1, 4).Draw(t, "names") {
			n[name] = amounts.Draw(t, "number")
		}
		return n
	})
)

func drawnAllowance(t *rapid.T) Message {
	if rapid.Bool().Draw(t, "tells") {
		return &Allowance{
			Sender:  shortText.Draw(t, "sender"),
			News:    numbers.Draw(t, "news"),
			Learned: maybe(t, numbers, "learned"),
		}
	}
	m := &Allowance{
		RequestID: text(t, "id"),
		Sender:    shortText.Draw(t, "sender"),
		Provider:  shortText.Draw(t, "provider"),
		Address:   rapid.Bool().Draw(t, "address"),
	}
	if !m.Address {
		m.Account = shortText.Draw(t, "account")
	}
	return m
}

func drawnShare(t *rapid.T) Message {
	m := &AllowanceShare{
		RequestID: maybe(t, shortText, "id"),
		Sender:    shortText.Draw(t, "sender"),
		Runs:      rapid.IntRange(1, MaxAllowanceRuns).Draw(t, "runs"),
		Learned:   maybe(t, numbers, "learned"),
	}
	m.Place = rapid.IntRange(0, m.Runs-1).Draw(t, "place")
	for range rapid.IntRange(0, 2).Draw(t, "others") {
		m.News = append(
			m.News,
			AllowanceNews{From: safeInts.Draw(t, "from"), Runs: m.Runs, Place: m.Place, Numbers: numbers.Draw(t, "numbers")},
		)
	}
	return m
}

func TestRulesOfAllowances(t *testing.T) {
	const (
		account = "account, non-blank and of at most 500 bytes, or address"
		news    = "news: at most 64 numbers, by names of small letters, digits and underscores"
		place   = "place: 0 to runs-1, and at most 256 runs"
		told    = `{"request_id":"<absent>","provider":"<absent>","account":"<absent>",`
	)
	long, many := strings.Repeat("a", 501), ""
	for i := range 65 {
		many += fmt.Sprintf(`,"n%d":1`, i)
	}
	checkBreaches(t, []breach{
		{TypeAllowance, `{"request_id":" "}`, "request_id: a non-blank string"},
		{TypeAllowance, `{"sender":" "}`, "sender: a non-blank string of at most 200 bytes"},
		{TypeAllowance, `{"sender":"` + long[:201] + `"}`, "sender: a non-blank string of at most 200 bytes"},
		{TypeAllowance, `{"provider":"<absent>"}`, "provider: a non-blank string of at most 500 bytes"},
		{TypeAllowance, `{"provider":"` + long + `"}`, "provider: a non-blank string of at most 500 bytes"},
		{TypeAllowance, `{"account":"<absent>"}`, account},
		{TypeAllowance, `{"account":" "}`, account},
		{TypeAllowance, `{"account":"` + long + `"}`, account},
		{TypeAllowance, `{"address":true}`, account},
		{TypeAllowance, `{"news":{"n":1}}`, "news and learned: without a request_id"},
		{TypeAllowance, `{"request_id":"<absent>"}`, "provider, account and address: with a request_id"},
		{TypeAllowance, told + `"news":{}}`, "news or learned: at least one of them"},
		{TypeAllowance, told + `"news":{"N":1}}`, news},
		{TypeAllowance, told + `"news":{"n":1` + many + `}}`, news},
		{TypeAllowance, told + `"learned":{"a b":1}}`, strings.Replace(news, "news", "learned", 1)},
		{TypeAllowanceShare, `{"sender":" "}`, "sender: a non-blank string"},
		{TypeAllowanceShare, `{"place":2}`, place},
		{TypeAllowanceShare, `{"place":-1}`, place},
		{TypeAllowanceShare, `{"runs":257}`, place},
		{TypeAllowanceShare, `{"news":[{"from":1,"runs":1,"place":1,"numbers":{}}]}`, place},
		{
			TypeAllowanceShare,
			`{"news":[{"from":1,"runs":1,"place":0,"numbers":{"_":1}}]}`,
			strings.Replace(news, "news", "news.numbers", 1),
		},
	})
}
