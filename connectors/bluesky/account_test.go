package bluesky_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver/pds"
	"github.com/pdpp-go/pdpp/providersim"
)

var shared = realserver.Shared[*pds.Server]{}

func TestMain(m *testing.M) { shared.Main(m) }

// theServer is the one server of this package.
func theServer(t testing.TB) *pds.Server {
	folder := pds.Folder(t)
	shared.Start = func(dir string) (*pds.Server, func() error, error) { return pds.Start(folder, dir, pds.Limits{}) }
	return shared.Get(t)
}

// The collections of a repository, and the stream of each.
const (
	profiles = "app.bsky.actor.profile"
	posts    = "app.bsky.feed.post"
	reposts  = "app.bsky.feed.repost"
	likes    = "app.bsky.feed.like"
	follows  = "app.bsky.graph.follow"
	blocks   = "app.bsky.graph.block"
	lists    = "app.bsky.graph.list"
	members  = "app.bsky.graph.listitem"
)

var streams = map[string]string{
	"media": "media", profiles: "profile", posts: "posts", reposts: "reposts", likes: "likes", follows: "follows",
	blocks: "blocks", lists: "lists", members: "list_items",
}

// person is an account with a repository on the server. Its export shows what exists.
type person struct {
	*pds.Account
	made    int
	picture map[string]any
	edition int
}

// openTestAccount makes a new account with so many posts and likes and with some of everything else.
func openTestAccount(t testing.TB, things int) (*person, *connectortest.Sim) {
	t.Helper()
	server := theServer(t)
	p := fill(t, server, things)
	gate := providersim.NewGate(providersim.GateOptions{})
	return p, &connectortest.Sim{Provider: p, Gate: gate,
		Env: p.env(realserver.StartFront(t, gate, server.URL, "/xrpc/{method}", "/xrpc/com.atproto.sync.getBlob"))}
}

// env leads the connector to the account.
func (p *person) env(server string) map[string]string {
	return map[string]string{"BLUESKY_SERVER": server, "BLUESKY_HANDLE": p.Handle, "BLUESKY_APP_PASSWORD": p.AppPassword}
}

func fill(t testing.TB, server *pds.Server, things int) *person {
	t.Helper()
	account, err := server.Open()
	if err != nil {
		t.Fatal(err)
	}
	p := &person{Account: account}
	if err := p.paint(); err != nil {
		t.Fatal(err)
	}
	writes := []pds.Write{{Op: "create", Collection: profiles, Key: "self", Value: p.profile()}}
	for range things {
		writes = append(writes, p.thing(posts), p.thing(likes))
	}
	for range (things + 3) / 4 {
		writes = append(writes, p.thing(reposts), p.thing(follows), p.thing(blocks), p.thing(lists), p.thing(members))
	}
	if err := p.Write(writes...); err != nil {
		t.Fatal(err)
	}
	return p
}

// paint uploads a picture to the server. Records written afterwards refer to it.
func (p *person) paint() (err error) {
	picture := image.NewGray(image.Rect(0, 0, 8, 8))
	picture.Pix[0] = uint8(p.made)
	picture.Pix[1] = uint8(p.made >> 8)
	var file bytes.Buffer
	if err := png.Encode(&file, picture); err != nil {
		return err
	}
	p.picture, err = p.Upload("image/png", file.Bytes())
	return err
}

func (p *person) profile() map[string]any {
	p.edition++
	return map[string]any{"$type": profiles, "displayName": fmt.Sprintf("Mara Lind %d", p.edition),
		"description": "Tides & <b>boats</b> 🚢", "avatar": p.picture}
}

// thing is the next record of a collection.
func (p *person) thing(collection string) pds.Write {
	p.made++
	at := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC).Add(time.Duration(p.made) * 37 * time.Minute)
	w := pds.Write{Op: "create", Collection: collection, Key: pds.RecordKey(at)}
	w.Value = p.value(collection, p.made, at)
	return w
}

func (p *person) value(collection string, n int, at time.Time) map[string]any {
	v := map[string]any{"$type": collection, "createdAt": at.Format("2006-01-02T15:04:05.000Z")}
	other := "did:plc:" + strings.Repeat(string(rune('a'+n%20)), 24)
	thing := map[string]any{"uri": "at://" + other + "/" + posts + "/3kaaaaaaaaa2a",
		"cid": "bafyreib2rxk3rybk3aobmv5cjuql3bm2twh4jo5uxgf5kpqcsgz7soitae"}
	switch collection {
	case posts:
		p.post(v, n, thing)
	case likes, reposts:
		v["subject"] = thing
	case follows, blocks:
		v["subject"] = other
	case lists:
		v["name"], v["purpose"], v["description"] = fmt.Sprintf("Boats %d", n), "app.bsky.graph.defs#curatelist",
			"Who sails\nwhere"
	case members:
		v["list"], v["subject"] = "at://"+p.DID+"/"+lists+"/3kaaaaaaaaa2b", other
	}
	return v
}

// post is one of the kinds that people write.
func (p *person) post(v map[string]any, n int, thing map[string]any) {
	p.edition++
	v["text"] = fmt.Sprintf("Tide %d, edition %d: ünlike the others 🌊\u202e", n, p.edition)
	v["langs"] = []string{"en", "de"}
	switch n % 5 {
	case 0:
		v["tags"] = []string{"tide"}
		v["embed"] = map[string]any{"$type": "app.bsky.embed.images",
			"images": []any{map[string]any{"image": p.picture, "alt": "A gray square"}}}
	case 1:
		v["reply"] = map[string]any{"root": thing, "parent": thing}
	case 2:
		v["embed"] = map[string]any{"$type": "app.bsky.embed.external",
			"external": map[string]any{"uri": "https://harbour.example/a?b=c", "title": "Harbour", "description": "Tides"}}
		v["facets"] = []any{map[string]any{"index": map[string]any{"byteStart": 0, "byteEnd": 4}, "features": []any{
			map[string]any{"$type": "app.bsky.richtext.facet#link", "uri": "https://harbour.example/"},
			map[string]any{"$type": "app.bsky.richtext.facet#mention", "did": "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"},
			map[string]any{"$type": "app.bsky.richtext.facet#tag", "tag": "boats"},
		}}}
	case 3:
		v["embed"] = map[string]any{
			"$type":  "app.bsky.embed.recordWithMedia",
			"record": map[string]any{"$type": "app.bsky.embed.record", "record": thing},
			"media": map[string]any{"$type": "app.bsky.embed.images",
				"images": []any{map[string]any{"image": p.picture, "alt": ""}}},
		}
		v["labels"] = map[string]any{"$type": "com.atproto.label.defs#selfLabels",
			"values": []any{map[string]any{"val": "graphic-media"}}}
	case 4:
		v["embed"] = map[string]any{"$type": "app.bsky.embed.record", "record": thing}
	}
}

// Truth is what the repository's export holds.
func (p *person) Truth() providersim.Truth {
	all, err := p.Repository(context.Background())
	if err != nil {
		panic(err)
	}
	truth := providersim.Truth{}
	for collection, records := range all {
		truth[streams[collection]] = map[string]providersim.Item{}
		for key, data := range records {
			if collection == profiles {
				key = p.DID
			}
			truth[streams[collection]][key] = providersim.Item{Data: data}
		}
	}
	return truth
}

// Mutate changes the account as another program of the person's would.
func (p *person) Mutate(m providersim.Mutation) (providersim.Mutated, error) {
	var writes []pds.Write
	if m.Op == "write" {
		if err := p.paint(); err != nil {
			return providersim.Mutated{}, err
		}
	}
	collection := map[string]string{"write": posts, "like": likes, "edit": posts, "delete": posts, "unlike": likes,
		"unfollow": follows}[m.Op]
	var keys []string
	for key, item := range p.Truth()[streams[collection]] {
		if !item.Deleted {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for i := range m.N {
		switch m.Op {
		case "write", "like":
			writes = append(writes, p.thing(collection))
		case "introduce":
			writes = append(writes, pds.Write{Op: "update", Collection: profiles, Key: "self", Value: p.profile()})
		case "edit":
			key := keys[(2*i+1)*len(keys)/(2*m.N)]
			p.made++
			writes = append(writes, pds.Write{Op: "update", Collection: collection, Key: key,
				Value: p.value(collection, p.made, time.Date(2026, 5, 1, 0, p.made, 0, 0, time.UTC))})
		default:
			writes = append(writes, pds.Write{Op: "delete", Collection: collection, Key: keys[(2*i+1)*len(keys)/(2*m.N)]})
		}
	}
	return providersim.Mutated{Op: m.Op, Now: time.Now()}, p.Write(writes...)
}

// ChangeToken is not what an app password does.
func (*person) ChangeToken(providersim.TokenChange) (providersim.TokenStatus, error) {
	return providersim.TokenStatus{}, nil
}
