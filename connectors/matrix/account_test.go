package matrix_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver/dendrite"
	"github.com/pdpp-go/pdpp/providersim"
)

var shared = realserver.Shared[*dendrite.Server]{}

func TestMain(m *testing.M) { shared.Main(m) }

// theServer is the one server of this package, without limits.
func theServer(t testing.TB) *dendrite.Server {
	program, base := dendrite.Program(t), realserver.PostgresAddress(t)
	shared.Start = func(dir string) (*dendrite.Server, func() error, error) {
		database, drop, err := realserver.CreateDatabase(base, "dendrite")
		if err != nil {
			return nil, nil, err
		}
		server, stop, err := dendrite.Start(program, database, dir, dendrite.Limits{})
		if err != nil {
			return nil, nil, errors.Join(err, drop())
		}
		return server, func() error { return errors.Join(stop(), drop()) }, nil
	}
	return shared.Get(t)
}

// person is a member of some rooms, with a friend. The server's database shows what exists.
type person struct {
	*dendrite.Account
	friend *dendrite.Account
	rooms  []string // the last one is encrypted
	made   int
}

// openTestAccount makes a person with so many messages in three rooms, edited, removed and with files now and then.
func openTestAccount(t testing.TB, reported int) (*person, *connectortest.Sim) {
	t.Helper()
	server := theServer(t)
	p := fill(t, server, reported)
	gate := providersim.NewGate(providersim.GateOptions{ErrorBody: func(code string) []byte {
		if code == "token_expired" {
			return []byte(`{"errcode":"M_UNKNOWN_TOKEN","error":"Unknown token"}`)
		}
		return []byte(`{"errcode":"M_UNKNOWN","error":"` + code + `"}`)
	}})
	return p, p.sim(realserver.StartFront(t, gate, server.URL, "/_matrix/client/v3/{call}",
		"/_matrix/client/v3/rooms/{room}/messages", "/_matrix/client/v1/media/download/"), gate)
}

func (p *person) sim(address string, gate *providersim.Gate) *connectortest.Sim {
	return &connectortest.Sim{Provider: p, Gate: gate,
		Env: map[string]string{"MATRIX_HOMESERVER": address, "MATRIX_ACCESS_TOKEN": p.Token}}
}

func fill(t testing.TB, server *dendrite.Server, announced int) *person {
	t.Helper()
	p := &person{}
	var err error
	if p.Account, err = server.Open("mara"); err != nil {
		t.Fatal(err)
	}
	if p.friend, err = server.Open("joern"); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		if err := p.create(n == 2); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range []providersim.Mutation{{Op: "say", N: announced}, {Op: "edit", N: 2 + announced/20},
		{Op: "remove", N: 2},
		{Op: "show", N: 2 + announced/50}, {Op: "whisper", N: 3}} {
		if _, err := p.Mutate(m); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p *person) create(encrypted bool) error {
	p.made++
	room, err := p.CreateRoom(fmt.Sprintf("Pottery <%d>", p.made), encrypted, p.friend)
	p.rooms = append(p.rooms, room)
	return err
}

// Truth is what the server's database hold.
func (p *person) Truth() providersim.Truth {
	all, err := p.Records()
	if err != nil {
		panic(err)
	}
	truth := providersim.Truth{}
	for stream, records := range all {
		truth[stream] = map[string]providersim.Item{}
		for key, record := range records {
			data, err := json.Marshal(record)
			if err != nil {
				panic(err)
			}
			truth[stream][key] = providersim.Item{Data: data, Deleted: record == nil}
		}
	}
	return truth
}

// Mutate changes what there is as the person and their friend do.
//
//	say N       N messages, by both, most of them in the first room
//	edit N      N of the person's own texts are replaced
//	remove N    N messages are taken back, with their files
//	show N      N pictures
//	whisper N   N messages in the encrypted room
//	rename      a room gets another name
//	leave       the friend leaves the second room
//	create      another room, with messages
func (p *person) Mutate(m providersim.Mutation) (providersim.Mutated, error) {
	done := providersim.Mutated{Op: m.Op, Now: time.Now()}
	var err error
	for n := 0; n < max(m.N, 1) && err == nil; n++ {
		p.made++
		room, who := p.rooms[0], p.Account
		if p.made%5 == 0 {
			room = p.rooms[1]
		}
		if p.made%3 == 0 && room == p.rooms[0] {
			who = p.friend
		}
		switch m.Op {
		case "say":
			_, err = who.Send(room, "m.room.message",
				map[string]any{"msgtype": "m.text", "body": fmt.Sprintf("Glaze %d ünlike 🏺", p.made),
					"format": "org.matrix.custom.html", "formatted_body": fmt.Sprintf("<b>Glaze %d</b>", p.made)})
		case "whisper":
			_, err = who.Send(p.rooms[2], "m.room.encrypted",
				map[string]any{"algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "AwgAEnB", "session_id": "s"})
		case "show":
			err = p.show(room)
		case "edit":
			at, id := p.pick(n, m.N, func(r map[string]any) bool { return r["mine"] == true && r["message_type"] == "m.text" })
			_, err = p.Send(at, "m.room.message", map[string]any{
				"msgtype": "m.text", "body": "* other",
				"m.new_content": map[string]any{"msgtype": "m.text", "body": fmt.Sprintf("Kiln %d", p.made)},
				"m.relates_to":  map[string]any{"rel_type": "m.replace", "event_id": id},
			})
		case "remove":
			at, id := p.pick(n, m.N, func(r map[string]any) bool { return r["mine"] == true && r["encrypted"] == false })
			err = p.Redact(at, id)
		case "remove_file":
			at, id := p.pick(n, m.N, func(r map[string]any) bool { return r["message_type"] == "m.image" })
			err = p.Redact(at, id)
		case "rename":
			err = p.Set(room, "m.room.name", "", map[string]any{"name": fmt.Sprintf("Kilns %d", p.made)})
		case "leave":
			err = p.friend.Leave(p.rooms[1])
		case "create":
			last := p.rooms[2]
			if err = p.create(false); err == nil {
				p.rooms[2], p.rooms[3] = p.rooms[3], last
				_, err = p.friend.Send(p.rooms[2], "m.room.message", map[string]any{"msgtype": "m.text", "body": "A new place"})
				p.rooms = slices.Delete(p.rooms, 2, 3)
			}
		default:
			err = fmt.Errorf("no operation %q", m.Op)
		}
	}
	return done, err
}

// show sends a picture of its own.
func (p *person) show(room string) error {
	picture := bytes.Repeat([]byte(fmt.Sprintf("picture %d of %s ", p.made, p.User)), 50)
	uri, err := p.Upload("image/png", picture)
	if err != nil {
		return err
	}
	_, err = p.Send(room, "m.room.message",
		map[string]any{"msgtype": "m.image", "body": fmt.Sprintf("bowl %d.png", p.made), "url": uri,
			"info": map[string]any{"mimetype": "image/png", "size": len(picture)}})
	return err
}

// pick chooses the Nth of some messages that fit, spread over all of them.
func (p *person) pick(n, of int, fits func(map[string]any) bool) (room, id string) {
	all, err := p.Records()
	if err != nil {
		panic(err)
	}
	var found []map[string]any
	for _, r := range all["messages"] {
		if r != nil && fits(r) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b map[string]any) int {
		return bytes.Compare([]byte(a["sent_at"].(string)+a["id"].(string)), []byte(b["sent_at"].(string)+b["id"].(string)))
	})
	r := found[min((2*n+1)*len(found)/(2*max(of, 1)), len(found)-1)]
	return r["room_id"].(string), r["id"].(string)
}

// ChangeToken is not what a test of this server does.
func (*person) ChangeToken(providersim.TokenChange) (providersim.TokenStatus, error) {
	return providersim.TokenStatus{}, nil
}
