// Package person defines what an owner sees of the people who wrote to them, over all sources.
package person

import (
	"context"
	"time"
)

// Control lists people, and changes which of their names and addresses belong together.
type Control interface {
	// People lists the people who wrote something that is kept, those who wrote most first.
	People(ctx context.Context, q PeopleQuery) (List, error)
	// Person returns one of them, by the id of any of their identities.
	Person(ctx context.Context, id string) (Person, error)
	// JoinPeople states that two of them are one person.
	JoinPeople(ctx context.Context, id, other string) error
	// SplitPerson states that one identity is another person than those that it is joined with.
	SplitPerson(ctx context.Context, id, identity string) error
	// SetPersonMine states whether a person is the owner, who is not listed.
	SetPersonMine(ctx context.Context, id string, mine bool) error
}

// PeopleQuery selects people.
type PeopleQuery struct {
	Search string `query:"q"`                          // in names and addresses
	Kind   string `query:"kind,person,automatic,mine"` // person by default
	Order  string `query:"order,records,recent,name"`  // those who wrote most come first by default
	Limit  int    `query:"limit" maximum:"200"`        // 50 by default
	Skip   int    `query:"skip"`                       // how many to leave out
}

// List is a page of people.
type List struct {
	People []ListedPerson `json:"people"`
	Total  int            `json:"total"`  // that match
	Counts KindCounts     `json:"counts"` // of all, by kind
	AsOf   time.Time      `json:"as_of"`  // when the records were counted
}

// KindCounts are how many there are of each kind.
type KindCounts struct {
	Person    int `json:"person"`
	Automatic int `json:"automatic"`
	Mine      int `json:"mine"`
}

// ListedPerson is a person in a list.
type ListedPerson struct {
	ID      string     `json:"person_id"`
	Name    string     `json:"name"`
	Kind    string     `json:"kind" enum:"person,automatic,mine"` // automatic: an address that only programs write from
	Records int64      `json:"record_count"`
	First   *time.Time `json:"first_at"`
	Last    *time.Time `json:"last_at"`
	Sources []string   `json:"sources"` // names of connections
}

// Person is everything about one person.
type Person struct {
	ListedPerson
	Identities []Identity     `json:"identities"`
	Months     []Month        `json:"months"`  // that have records, the first one first
	Similar    []ListedPerson `json:"similar"` // others with the same name, who may be the same person
}

// Identity is a person in one source.
type Identity struct {
	ID             string `json:"identity_id"`
	Name           string `json:"name"`
	Address        string `json:"address"` // a mail address, a number or a handle; empty where the source has none
	ConnectionID   string `json:"connection_id"`
	ConnectionName string `json:"connection_name"`
	Records        int64  `json:"record_count"`
	// Joined tells how it belongs to the person: by an equal address, by the owner, or as the only identity.
	Joined string `json:"joined" enum:"only,address,owner"`
	// Traces are where its records are found.
	Traces []Trace `json:"traces"`
}

// Trace is how a stream names an author. Records with it are listed by the parameter author or address.
type Trace struct {
	Stream  string     `json:"stream"`
	Author  string     `json:"author,omitempty"`
	Address string     `json:"address,omitempty"`
	Records int64      `json:"record_count"`
	First   *time.Time `json:"first_at"`
	Last    *time.Time `json:"last_at"`
}

// Month counts what a person wrote in a month like 2026-03.
type Month struct {
	Month   string `json:"month"`
	Records int64  `json:"record_count"`
}
