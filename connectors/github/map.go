package github

import (
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"pdpp/connectorkit"
)

// The wire types name what is read of GitHub's answers, the record types what the
// manifest's schemas describe. A pointer is a member that may be null or absent;
// it is then absent from the record.

type wireUser struct {
	ID        int64   `json:"id"`
	Login     string  `json:"login"`
	Name      *string `json:"name"`
	Email     *string `json:"email"`
	Bio       *string `json:"bio"`
	Company   *string `json:"company"`
	Location  *string `json:"location"`
	Blog      *string `json:"blog"`
	Twitter   *string `json:"twitter_username"`
	CreatedAt *string `json:"created_at"`
	UpdatedAt string  `json:"updated_at"`
	AvatarURL *string `json:"avatar_url"`

	PublicRepos *int64 `json:"public_repos"`
	PublicGists *int64 `json:"public_gists"`
	Followers   *int64 `json:"followers"`
	Following   *int64 `json:"following"`
}

type userRecord struct {
	ID        string  `json:"id"`
	Login     string  `json:"login"`
	Name      *string `json:"name,omitzero"`
	Email     *string `json:"email,omitzero"`
	Bio       *string `json:"bio,omitzero"`
	Company   *string `json:"company,omitzero"`
	Location  *string `json:"location,omitzero"`
	Blog      *string `json:"blog,omitzero"`
	Twitter   *string `json:"twitter_username,omitzero"`
	CreatedAt *string `json:"created_at,omitzero"`
	UpdatedAt string  `json:"updated_at,omitzero"`
	AvatarURL *string `json:"avatar_url,omitzero"`
}

func (u wireUser) record() userRecord {
	return userRecord{
		ID: ident(u.ID), Login: u.Login, Name: u.Name, Email: u.Email, Bio: u.Bio, Company: u.Company, Location: u.Location,
		Blog: u.Blog, Twitter: u.Twitter, CreatedAt: u.CreatedAt, UpdatedAt: u.UpdatedAt, AvatarURL: u.AvatarURL,
	}
}

type userStatsRecord struct {
	ID          string `json:"id"`
	UserID      string `json:"user_id"`
	ObservedOn  string `json:"observed_on"`
	PublicRepos *int64 `json:"public_repos,omitzero"`
	PublicGists *int64 `json:"public_gists,omitzero"`
	Followers   *int64 `json:"followers,omitzero"`
	Following   *int64 `json:"following,omitzero"`
}

func (u wireUser) stats(day string) userStatsRecord {
	return userStatsRecord{
		ID: ident(u.ID) + ":" + day, UserID: ident(u.ID), ObservedOn: day,
		PublicRepos: u.PublicRepos, PublicGists: u.PublicGists, Followers: u.Followers, Following: u.Following,
	}
}

type wireEvent struct {
	ID        string      `json:"id"`
	Type      string      `json:"type"`
	Public    bool        `json:"public"`
	Actor     *wireActor  `json:"actor"`
	Org       *wireActor  `json:"org"`
	Repo      *wireTarget `json:"repo"`
	CreatedAt string      `json:"created_at"`
	Payload   struct {
		Action *string `json:"action"`
		Ref    *string `json:"ref"`
	} `json:"payload"`
}

type wireActor struct {
	ID    int64  `json:"id"`
	Login string `json:"login"`
}

// wireTarget is the repository of an event: its name is the full one.
type wireTarget struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

type eventRecord struct {
	ID                 string  `json:"id"`
	Type               string  `json:"type"`
	Public             bool    `json:"public"`
	ActorLogin         string  `json:"actor_login,omitzero"`
	OrganizationLogin  string  `json:"organization_login,omitzero"`
	RepositoryID       string  `json:"repository_id,omitzero"`
	RepositoryFullName string  `json:"repository_full_name,omitzero"`
	Action             *string `json:"action,omitzero"`
	Ref                *string `json:"ref,omitzero"`
	CreatedAt          string  `json:"created_at"`
}

func (e wireEvent) record() eventRecord {
	out := eventRecord{
		ID: e.ID, Type: e.Type, Public: e.Public, ActorLogin: e.Actor.login(), OrganizationLogin: e.Org.login(),
		Action: e.Payload.Action, Ref: e.Payload.Ref, CreatedAt: e.CreatedAt,
	}
	if e.Repo != nil {
		out.RepositoryID, out.RepositoryFullName = ident(e.Repo.ID), e.Repo.Name
	}
	return out
}

func (a *wireActor) login() string {
	if a == nil {
		return ""
	}
	return a.Login
}

// ident spells a number as an id; zero, which GitHub never gives, is none.
func ident(id int64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatInt(id, 10)
}

func decode(raw jsontext.Value, into any) error { return json.Unmarshal(raw, into) }

// unreadable declares a thing that could not be decoded, by its id if that can be
// read at least.
func unreadable(raw jsontext.Value, err error) connectorkit.Record {
	return connectorkit.Unreadable(idOf(raw), err)
}

func idOf(raw jsontext.Value) string {
	var numbered struct {
		ID jsontext.Value `json:"id"`
	}
	if json.Unmarshal(raw, &numbered) != nil {
		return ""
	}
	var text string
	if json.Unmarshal(numbered.ID, &text) == nil {
		return text
	}
	var number int64
	if json.Unmarshal(numbered.ID, &number) == nil {
		return ident(number)
	}
	return ""
}
