package edge

import (
	"net/url"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// personNames are the names of the fields and parameters that name a person, each kind of
// person in its two spellings.
var personNames = []struct {
	name     string
	external bool // a customer of the application that calls, not a person of the workspace
}{{"userId", false}, {"user_id", false}, {"externalUserId", true}, {"external_user_id", true}}

// sessionName is the name of the field and the parameter with a conversation.
const sessionName = "session_id"

// ActingNames returns the names of all fields and parameters that say for whom and in which
// conversation a request acts.
func ActingNames() []string {
	names := []string{sessionName}
	for _, person := range personNames {
		names = append(names, person.name)
	}
	return names
}

// PersonFields are the fields of a body that name the person for whom it acts.
type PersonFields struct {
	UserID      string `json:"userId,omitempty" maxLength:"256" doc:"A person of the workspace for whom an API key acts"`
	UserIDSnake string `json:"user_id,omitempty" maxLength:"256" doc:"The same as userId"`
	CustomerFields
}

// CustomerFields are the fields of a body that name a customer.
type CustomerFields struct {
	ExternalUserID      string `json:"externalUserId,omitempty" maxLength:"256" doc:"A user of your application (a customer), for whom an API key acts. Not a person of the workspace"`
	ExternalUserIDSnake string `json:"external_user_id,omitempty" maxLength:"256" doc:"The same as externalUserId"`
}

// namedPerson is a person as one field or parameter names it.
type namedPerson struct {
	location string
	name     string
	external bool
}

func (f PersonFields) named() []namedPerson {
	return append([]namedPerson{{"body.userId", f.UserID, false}, {"body.user_id", f.UserIDSnake, false}}, f.CustomerFields.named()...)
}

func (f CustomerFields) named() []namedPerson {
	return []namedPerson{{"body.externalUserId", f.ExternalUserID, true}, {"body.external_user_id", f.ExternalUserIDSnake, true}}
}

func namedInQuery(query url.Values) []namedPerson {
	var named []namedPerson
	for _, person := range personNames {
		for _, value := range query[person.name] {
			named = append(named, namedPerson{"query." + person.name, value, person.external})
		}
	}
	return named
}

// namedBy returns the person for whom a principal acts because its request's parameters
// named one. A token acts for its own user, whom nobody named.
func namedBy(p knowledge.Principal) []namedPerson {
	if p.KeyID() == "" {
		return nil
	}
	return []namedPerson{{"query.userId", p.User(), false}, {"query.externalUserId", p.ExternalUser(), true}}
}

// onePerson returns the person whom a request names. Two names, or both kinds of people, are
// CodeInvalid.
func onePerson(named ...namedPerson) (access.Acting, error) {
	var one namedPerson
	for _, other := range named {
		switch {
		case other.name == "":
		case one.name == "":
			one = other
		case other.external != one.external:
			return access.Acting{}, unlike(one, other, "userId is a person of the workspace, and externalUserId a customer of your application; a request acts for one of them")
		case other.name != one.name:
			return access.Acting{}, unlike(one, other, "both name the person for whom the request acts; send one of them")
		}
	}
	if one.external {
		return access.Acting{ExternalUser: one.name}, nil
	}
	return access.Acting{User: one.name}, nil
}

// unlike returns the error for two fields that do not go together.
func unlike(a, b namedPerson, rule string) error {
	if a.location == b.location {
		return knowledge.Invalid(a.location, "must be given once")
	}
	return knowledge.InvalidFields([]knowledge.Field{
		{Location: a.location, Message: "does not go with the value of " + b.location + ": " + rule},
		{Location: b.location, Message: "does not go with the value of " + a.location + ": " + rule},
	})
}

// Acting returns the person whom the fields name. Two names, or both kinds of people, are
// CodeInvalid.
func (f PersonFields) Acting() (access.Acting, error) { return onePerson(f.named()...) }

// Customer returns the customer whom the fields name, "" if they name none. It must be the
// one for whom the principal acts, if its request names somebody: everything else is
// CodeInvalid.
func (f CustomerFields) Customer(p knowledge.Principal) (string, error) {
	named := f.named()
	if named[0].name == "" && named[1].name == "" {
		return "", nil
	}
	acting, err := onePerson(append(named, namedBy(p)...)...)
	return acting.ExternalUser, err
}
