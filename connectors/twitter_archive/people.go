package twitterarchive

import (
	"context"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive"
)

// like is a post of somebody's that the owner liked. The archive does not say when.
type like struct {
	ID   string `json:"id"`
	Text string `json:"text,omitzero"`
	URL  string `json:"url,omitzero"`
}

// person is an account that follows the owner's, or that the owner follows, blocked or muted. The
// archive has no names.
type person struct {
	ID        string `json:"id"`
	AccountID string `json:"account_id"`
	Relation  string `json:"relation"`
	URL       string `json:"url,omitzero"`
}

const (
	follower  = "follower"
	following = "following"
	blocked   = "blocked"
	muted     = "muted"
)

// readLikes reads what was liked.
func readLikes(ctx context.Context, m *localarchive.Member) error {
	return elements(ctx, m, func(element jsontext.Value) bool {
		var s struct {
			Like struct {
				ID   text   `json:"tweetId"`
				Text string `json:"fullText"`
				URL  string `json:"expandedUrl"`
			} `json:"like"`
		}
		if json.Unmarshal(element, &s, lenient) != nil || s.Like.ID == "" {
			return false
		}
		m.Emit("likes", connectorkit.Upsert(like{string(s.Like.ID), unescaped.Replace(s.Like.Text), s.Like.URL}))
		return true
	})
}

// readPeople reads who follows and who is followed.
func readPeople(ctx context.Context, m *localarchive.Member) error {
	type account struct {
		ID  text   `json:"accountId"`
		URL string `json:"userLink"`
	}
	return elements(ctx, m, func(element jsontext.Value) bool {
		var s struct {
			Follower  account `json:"follower"`
			Following account `json:"following"`
			Blocking  account `json:"blocking"`
			Muting    account `json:"muting"`
		}
		if json.Unmarshal(element, &s, lenient) != nil {
			return false
		}
		who, relation := s.Follower, follower
		switch {
		case s.Following.ID != "":
			who, relation = s.Following, following
		case s.Blocking.ID != "":
			who, relation = s.Blocking, blocked
		case s.Muting.ID != "":
			who, relation = s.Muting, muted
		}
		if who.ID == "" {
			return false
		}
		m.Emit("people", connectorkit.Upsert(person{relation + "/" + string(who.ID), string(who.ID), relation, who.URL}))
		return true
	})
}

// elements reads a list, one thing for each element; what read does not understand is declared.
func elements(ctx context.Context, m *localarchive.Member, read func(element jsontext.Value) bool) error {
	in, err := m.Open(ctx, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	var from localarchive.ListPlace
	m.State(&from)
	return localarchive.Lists(ctx, in, from, nil, func(at localarchive.ListPlace, element jsontext.Value) error {
		if !read(element) {
			m.Row(at.Index, int64(len(element)))
		}
		at.Index++
		return m.Place(ctx, func() any { return at })
	})
}
