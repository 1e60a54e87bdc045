// Package quota holds callers to their limits: the requests of a minute, the tokens and the cost
// of a day, and what is stored, of a key, a user, a project and a workspace. It knows no
// routes: the router counts each request, and what starts runs or stores documents asks for the
// accounts that they count to. The counts are in the database (package store).
package quota
