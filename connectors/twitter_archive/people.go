package twitterarchive

import (
	"context"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive"
)

// likeRecord is a post that the owner liked. The archive has no time for it.
type likeRecord struct {
	ID   string `json:"id"`
	Text string `json:"text,omitzero"`
	URL  string `json:"url,omitzero"`
}

// personRecord is an account that follows the owner's, or that the owner follows, blocked or muted. The
// archive has no names.
type personRecord struct {
	ID        string `json:"id"`
	AccountID string `json:"account_id"`
	Relation  string `json:"relation"`
	URL       string `json:"url,omitzero"`
}

const (
	relationFollower  = "follower"
	relationFollowing = "following"
	relationBlocked   = "blocked"
	relationMuted     = "muted"
)

// readLikesFile reads liked posts.
func (a *archiveReader) readLikesFile(ctx context.Context, m *localarchive.Member) error {
	return a.eachElement(ctx, m, "likes", func(element jsontext.Value) bool {
		var s struct {
			Like struct {
				ID   textOrNumber `json:"tweetId"`
				Text string       `json:"fullText"`
				URL  string       `json:"expandedUrl"`
			} `json:"like"`
		}
		if json.Unmarshal(element, &s, lenientDecoding) != nil || s.Like.ID == "" {
			return false
		}
		m.Emit("likes", connectorkit.Upsert(likeRecord{string(s.Like.ID), htmlUnescaper.Replace(s.Like.Text), s.Like.URL}))
		return true
	})
}

// readPeople reads who follows and who is followed.
func (a *archiveReader) readPeople(ctx context.Context, m *localarchive.Member) error {
	type account struct {
		ID  textOrNumber `json:"accountId"`
		URL string       `json:"userLink"`
	}
	return a.eachElement(ctx, m, "people", func(element jsontext.Value) bool {
		var s struct {
			Follower  account `json:"follower"`
			Following account `json:"following"`
			Blocking  account `json:"blocking"`
			Muting    account `json:"muting"`
		}
		if json.Unmarshal(element, &s, lenientDecoding) != nil {
			return false
		}
		who, relation := s.Follower, relationFollower
		switch {
		case s.Following.ID != "":
			who, relation = s.Following, relationFollowing
		case s.Blocking.ID != "":
			who, relation = s.Blocking, relationBlocked
		case s.Muting.ID != "":
			who, relation = s.Muting, relationMuted
		}
		if who.ID == "" {
			return false
		}
		m.Emit("people", connectorkit.Upsert(personRecord{relation + "/" + string(who.ID), string(who.ID), relation,
			who.URL}))
		return true
	})
}

// eachElement reads a list, one item per element; an element that read rejects is declared. At the end the number of
// elements is compared with the archive's own count.
func (a *archiveReader) eachElement(ctx context.Context, m *localarchive.Member, stream string,
	read func(element jsontext.Value) bool) error {
	in, err := m.Open(ctx, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	var at localarchive.ListPlace
	m.State(&at)
	err = localarchive.ReadLists(ctx, in, at, nil, func(here localarchive.ListPlace, element jsontext.Value) error {
		if !read(element) {
			m.Row(here.Index, int64(len(element)))
		}
		at = localarchive.ListPlace{List: here.List, Index: here.Index + 1}
		return m.Place(ctx, func() any { return at })
	})
	if err != nil {
		return err
	}
	return a.compareCount(ctx, m, stream, at.Index)
}
