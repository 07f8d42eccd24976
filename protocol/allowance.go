package protocol

import "regexp"

// Numbers are what governors of different runs tell each other, by name. Nobody between them reads it.
type Numbers map[string]float64

// Allowance says, with a request id, whose allowance the requests of a sender draw on: what the provider allows an
// account, or everybody at this address. It is answered by an AllowanceShare, and what names the account is
// neither stored nor logged. Without a request id it tells of an allowance that the run draws on: news for the
// runs beside this one, and what is learned for those after it.
type Allowance struct {
	RequestID string  `json:"request_id,omitzero"`
	Sender    string  `json:"sender"` // as in ProviderWait
	Provider  string  `json:"provider,omitzero"`
	Account   string  `json:"account,omitzero"`
	Address   bool    `json:"address,omitzero"`
	News      Numbers `json:"news,omitempty"`
	Learned   Numbers `json:"learned,omitempty"`
}

// AllowanceShare is the run's part of an allowance: how many runs draw on it, and which of them this one is, from 0
// on. It answers an Allowance with its request id, and comes again, without one, when that changes or others
// have news.
type AllowanceShare struct {
	RequestID string          `json:"request_id,omitzero"`
	Sender    string          `json:"sender"`
	Runs      int             `json:"runs"`
	Place     int             `json:"place"`
	Learned   Numbers         `json:"learned,omitempty"` // what runs before this one found, in the answer alone
	News      []AllowanceNews `json:"news,omitempty"`
}

// AllowanceNews is what another run on the allowance told last, and which part that one has.
type AllowanceNews struct {
	From    int64   `json:"from"` // tells the runs apart
	Runs    int     `json:"runs"`
	Place   int     `json:"place"`
	Numbers Numbers `json:"numbers"`
}

func (*Allowance) Type() MessageType      { return TypeAllowance }
func (*AllowanceShare) Type() MessageType { return TypeAllowanceShare }

// The bounds of what is told of an allowance.
const (
	MaxAllowances    = 8   // that a run draws on
	MaxAllowanceRuns = 256 // that draw on one and share it
	maxAllowanceName = 500 // bytes of a provider's name or an account's
	maxNumbers       = 64
)

var numberName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

func (m *Allowance) check() *Violation {
	sender := rule{!blank(m.Sender) && len(m.Sender) <= maxSender, "sender: a non-blank string of at most 200 bytes"}
	if m.RequestID == "" {
		return firstBroken(sender,
			rule{m.Provider == "" && m.Account == "" && !m.Address, "provider, account and address: with a request_id"},
			rule{len(m.News)+len(m.Learned) > 0, "news or learned: what there is to tell"},
			m.News.rule("news"), m.Learned.rule("learned"),
		)
	}
	return firstBroken(sender,
		rule{!blank(m.RequestID), "request_id: a non-blank string"},
		rule{!blank(m.Provider) && len(m.Provider) <= maxAllowanceName, "provider: a non-blank string of at most 500 bytes"},
		rule{len(m.Account) <= maxAllowanceName && !blank(m.Account) != m.Address, "account, non-blank and of at most 500 bytes, or address"},
		rule{len(m.News)+len(m.Learned) == 0, "news and learned: without a request_id"},
	)
}

func (m *AllowanceShare) check() *Violation {
	rules := []rule{
		{!blank(m.Sender), "sender: a non-blank string"},
		shareRule(m.Runs, m.Place),
		m.Learned.rule("learned"),
		{len(m.News) < MaxAllowanceRuns, "news: of at most 255 runs"},
	}
	for i := range m.News {
		rules = append(rules, shareRule(m.News[i].Runs, m.News[i].Place), m.News[i].Numbers.rule("news.numbers"))
	}
	return firstBroken(rules...)
}

func shareRule(runs, place int) rule {
	return rule{place >= 0 && place < runs && runs <= MaxAllowanceRuns, "place: 0 to runs-1, and at most 256 runs"}
}

func (n Numbers) rule(name string) rule {
	want := name + ": at most 64 numbers, by names of small letters, digits and underscores"
	if len(n) > maxNumbers {
		return rule{want: want}
	}
	for member := range n {
		if !numberName.MatchString(member) {
			return rule{want: want}
		}
	}
	return rule{holds: true}
}
