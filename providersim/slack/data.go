package slack

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

type object map[string]any

// Streams of [Slack.Truth].
const (
	StreamWorkspace = "workspace"
	StreamChannels  = "channels"
	StreamUsers     = "users"
	StreamMessages  = "messages"
	StreamFiles     = "files"

	StreamMemberships = "channel_memberships"
	StreamStats       = "channel_stats"
	StreamReadStates  = "dm_read_states"
	StreamGroups      = "user_groups"
	StreamReminders   = "reminders"
	StreamStars       = "stars"
)

type channel struct {
	id       string
	data     object
	left     bool // by the person: it is neither listed nor read
	messages []*message
}

// message has its replies, if it began a thread.
type message struct {
	ts      string
	gone    bool
	data    object
	parent  *message
	replies []*message
}

type file struct {
	data object
	gone bool
}

const (
	team = "T0AAA"
	self = "U0001"
)

// stamp is a name that no other message of the workspace has.
func (s *Slack) stamp(at time.Time) string {
	s.lastID++
	return fmt.Sprintf("%010d.%06d", at.Unix(), s.lastID)
}

func (s *Slack) generate() {
	now := s.cfg.Now()
	for i := range max(s.cfg.Users, 1) {
		s.users = append(s.users, object{"id": fmt.Sprintf("U%04d", i+1), "team_id": team, "name": fmt.Sprintf("person%d", i+1), "deleted": i%5 == 4, "tz": "Europe/Vienna", "is_bot": false, "is_admin": i == 0,
			"is_owner": false, "is_restricted": false, "is_ultra_restricted": false, "updated": 1_770_000_000 + i,
			"profile": object{"real_name": fmt.Sprintf("Person %d", i+1), "display_name": "", "email": fmt.Sprintf("p%d@example.org", i+1), "status_text": "", "image_192": "https://example.org/p.png"}})
	}
	for i := range s.cfg.Channels {
		c := &channel{id: fmt.Sprintf("C%04d", i+1), data: object{"name": fmt.Sprintf("room-%d", i+1), "is_channel": true, "is_member": i%4 != 3, "is_im": false, "is_mpim": false, "is_private": i%2 == 1, "is_archived": i%5 == 4,
			"creator": self, "created": 1_760_000_000 + i, "topic": object{"value": fmt.Sprintf("topic %d", i+1)},
			"purpose": object{"value": ""}, "previous_names": []string{}, "num_members": 1 + s.cfg.Users/2}}
		if i%6 == 2 {
			c.data = object{"is_im": true, "user": "U0002", "created": 1_760_000_000 + i}
		}
		s.channels = append(s.channels, c)
		for n := range s.cfg.Messages {
			m := s.say(c, now.Add(-time.Duration(s.cfg.Messages-n)*9*time.Hour), nil)
			for r := range []int{0, 0, 3, 0, 1}[n%5] {
				s.say(c, now.Add(-time.Duration(s.cfg.Messages-n)*9*time.Hour).Add(time.Duration(r+1)*time.Minute), m)
			}
		}
	}
	for range s.cfg.Files {
		s.upload()
	}
	for i := range 3 {
		at := 1_765_000_000 + i
		s.groups = append(s.groups, object{"id": fmt.Sprintf("S%04d", i+1), "team_id": team, "is_usergroup": true,
			"name": fmt.Sprintf("Group %d", i+1), "description": "", "handle": fmt.Sprintf("group%d", i+1), "is_external": false,
			"date_create": at, "date_update": at, "date_delete": 0, "created_by": self, "updated_by": self,
			"users": []string{self}, "user_count": 1, "prefs": object{"channels": []string{"C0001"}, "groups": []string{}}})
		s.reminders = append(s.reminders, object{"id": fmt.Sprintf("Rm%04d", i+1), "creator": self, "user": self,
			"text": fmt.Sprintf("water plant %d", i+1), "recurring": false, "time": at, "complete_ts": 0})
		s.stars = append(s.stars, object{"type": "message", "channel": "C0001", "date_create": at,
			"message": object{"type": "message", "ts": fmt.Sprintf("%d.000100", at), "text": "keep this"}})
	}
	s.stars = append(s.stars, object{"type": "file", "date_create": 1_765_000_009, "file": object{"id": "F1"}},
		object{"type": "channel", "channel": "C0001", "date_create": 1_765_000_010})
}

// members returns who is in a conversation.
func (s *Slack) members(c *channel) (out []string) {
	out = append(out, self)
	for i := 1; i < len(s.users); i += 2 {
		out = append(out, s.users[i]["id"].(string))
	}
	return out
}

// sample notes how many members each conversation has when its list is first requested on a day.
func (s *Slack) sample() {
	day := s.cfg.Now().UTC().Format(time.DateOnly)
	if s.samples[day] != nil {
		return
	}
	s.samples[day] = map[string]object{}
	for _, c := range s.channels {
		if n, counted := c.data["num_members"]; counted && !c.left {
			s.samples[day][c.id+":"+day] = object{"id": c.id + ":" + day, "channel_id": c.id, "observed_on": day,
				"member_count": n}
		}
	}
}

// say makes a message, or a reply.
func (s *Slack) say(c *channel, at time.Time, parent *message) *message {
	ts := s.stamp(at)
	m := &message{ts: ts, parent: parent, data: object{"type": "message", "user": self, "text": fmt.Sprintf("words &amp; more %d", s.lastID), "team": team, "client_msg_id": fmt.Sprintf("c-%d", s.lastID)}}
	if s.lastID%4 == 0 {
		m.data["reactions"] = []object{{"name": "+1", "users": []string{"U0002"}, "count": 3}}
	}
	if s.lastID%6 == 0 {
		m.data["files"] = []object{{"id": "F1", "mode": "hosted"}}
	}
	switch s.lastID % 7 { // what programs say is often in one of these members only
	case 1: // the preview of a link
		m.data["attachments"] = []object{{"id": 1, "fallback": "Lofts of the north",
			"title": fmt.Sprintf("Loft %d", s.lastID), "title_link": "https://lofts.example/1", "text": "of the north"}}
	case 3:
		m.data["text"], m.data["username"], m.data["subtype"], m.data["bot_id"] = "", "alerts", "bot_message", "B0001"
		m.data["attachments"] = []object{{"id": 1, "fallback": "disk full", "title": fmt.Sprintf("Disk %d", s.lastID),
			"text": "is full", "fields": []object{{"title": "Host", "value": "attic", "short": true}}}}
	case 5:
		m.data["text"], m.data["bot_id"], m.data["bot_profile"] = "", "B0002",
			object{"id": "B0002", "name": "deploys", "app_id": "A1", "team_id": team}
		m.data["blocks"] = []object{{"type": "section", "block_id": "b1",
			"text": object{"type": "mrkdwn", "text": fmt.Sprintf("Release %d is out", s.lastID)}}}
	}
	if parent == nil {
		c.messages = append(c.messages, m)
	} else {
		parent.replies = append(parent.replies, m)
	}
	return m
}

func (s *Slack) upload() *file {
	s.lastID++
	f := &file{data: object{"id": fmt.Sprintf("F%05d", s.lastID), "name": "picture.png", "title": fmt.Sprintf("Picture %d", s.lastID), "mimetype": "image/png", "filetype": "png", "pretty_type": "PNG", "size": 1000 + s.lastID,
		"created": 1_765_000_000 + s.lastID, "user": self, "is_public": false, "is_external": false, "mode": "hosted", "permalink": "https://example.org/f", "url_private": "https://example.org/d"}}
	s.files = append(s.files, f)
	return f
}

// living are the replies that are there.
func (m *message) living() (out []*message) {
	for _, r := range m.replies {
		if !r.gone {
			out = append(out, r)
		}
	}
	return out
}

// there tells whether a message is given: one that was deleted leaves a tombstone while it has replies.
func (m *message) there() bool { return !m.gone || len(m.living()) > 0 }

func (m *message) object() object {
	o := maps.Clone(m.data)
	if m.gone {
		o = object{"type": "message", "subtype": "tombstone", "user": "USLACKBOT", "text": "This message was deleted.", "hidden": true}
	}
	o["ts"] = m.ts
	if m.parent != nil {
		o["thread_ts"], o["parent_user_id"] = m.parent.ts, self
	} else if replies := m.living(); len(replies) > 0 {
		o["thread_ts"], o["reply_count"], o["reply_users"], o["latest_reply"] = m.ts, len(replies), []string{self}, replies[len(replies)-1].ts
	}
	return o
}

func (c *channel) object() object {
	o := maps.Clone(c.data)
	o["id"] = c.id
	return o
}

// read tells whether the person reads a channel.
func (c *channel) read() bool { return c.data["is_im"] == true || c.data["is_member"] == true }

func (s *Slack) workspace() object {
	return object{"id": team, "name": "Home", "domain": "home", "email_domain": "", "icon": object{"image_132": "https://example.org/i.png"}}
}

// Truth returns everything that exists now and that the person reads, as the API serves it. What was read of a
// conversation that the person left counts as it was.
func (s *Slack) Truth() providersim.Truth {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := providersim.Truth{}
	add := func(stream, key string, data object, deleted bool) {
		if t[stream] == nil {
			t[stream] = map[string]providersim.Item{}
		}
		t[stream][key] = providersim.Item{Data: json.RawMessage(providersim.EncodeJSON(data)), Deleted: deleted}
	}
	add(StreamWorkspace, team, s.workspace(), false)
	for _, u := range s.users {
		add(StreamUsers, u["id"].(string), u, false)
	}
	for _, c := range s.channels {
		add(StreamChannels, c.id, c.object(), c.left)
		if !c.read() {
			continue
		}
		if c.data["is_im"] == true {
			add(StreamReadStates, c.id, object{"id": c.id, "user_id": "U0002", "last_read": lastRead}, false)
		} else {
			for _, user := range s.members(c) {
				add(StreamMemberships, c.id+":"+user, object{"id": c.id + ":" + user, "channel_id": c.id, "user_id": user}, c.left)
			}
		}
		for _, m := range c.messages {
			for _, x := range append([]*message{m}, m.replies...) {
				o := x.object()
				o["channel_id"], o["sent_at"] = c.id, moment(x.ts)
				add(StreamMessages, c.id+":"+x.ts, o, !x.there() || x.parent != nil && !x.parent.there())
			}
		}
	}
	for _, day := range s.samples {
		for key, o := range day {
			add(StreamStats, key, o, false)
		}
	}
	for stream, all := range map[string][]object{StreamGroups: s.groups, StreamReminders: s.reminders} {
		for _, o := range all {
			add(stream, o["id"].(string), o, false)
		}
	}
	for _, o := range s.stars {
		add(StreamStars, starKey(o), o, false)
	}
	for _, f := range s.files {
		add(StreamFiles, f.data["id"].(string), f.data, f.gone)
	}
	return t
}

// lastRead is how far the person has read each direct message.
const lastRead = "1772359872.123459"

// starKey names what a star is on.
func starKey(o object) string {
	switch o["type"] {
	case "message":
		return "message:" + o["channel"].(string) + ":" + o["message"].(object)["ts"].(string)
	case "file":
		return "file:" + o["file"].(object)["id"].(string)
	}
	return o["type"].(string) + ":" + o["channel"].(string)
}

// moment is when a message was sent.
func moment(ts string) string {
	var seconds, micros int64
	if _, err := fmt.Sscanf(ts, "%d.%d", &seconds, &micros); err != nil {
		return ""
	}
	return time.Unix(seconds, micros*1000).UTC().Format("2006-01-02T15:04:05.000000Z")
}
