package aws

import (
	"slices"
	"strings"

	"vigil/internal/posture/predicate"
)

// escalations are the published privilege escalations: each is a set of actions
// with which an identity can become administrator.
var escalations = [][]string{
	{"iam:createpolicyversion"}, {"iam:setdefaultpolicyversion"},
	{"iam:putuserpolicy"}, {"iam:putgrouppolicy"}, {"iam:putrolepolicy"},
	{"iam:attachuserpolicy"}, {"iam:attachgrouppolicy"}, {"iam:attachrolepolicy"},
	{"iam:addusertogroup"}, {"iam:updateassumerolepolicy"},
	{"iam:createaccesskey"}, {"iam:createloginprofile"}, {"iam:updateloginprofile"},
	{"sts:assumerole"},
	{"iam:passrole", "ec2:runinstances"}, {"iam:passrole", "lambda:createfunction", "lambda:invokefunction"},
	{"iam:passrole", "lambda:createfunction", "lambda:createeventsourcemapping"}, {"iam:passrole", "lambda:createfunction", "lambda:addpermission"},
	{"iam:passrole", "cloudformation:createstack"}, {"iam:passrole", "glue:createdevendpoint"}, {"iam:passrole", "glue:createjob", "glue:startjobrun"},
	{"iam:passrole", "datapipeline:createpipeline", "datapipeline:putpipelinedefinition", "datapipeline:activatepipeline"},
	{"iam:passrole", "ecs:registertaskdefinition", "ecs:runtask"}, {"iam:passrole", "sagemaker:createnotebookinstance", "sagemaker:createpresignednotebookinstanceurl"},
	{"iam:passrole", "codebuild:createproject", "codebuild:startbuild"}, {"iam:passrole", "ssm:startautomationexecution"},
	{"iam:passrole", "states:createstatemachine", "states:startexecution"},
	{"lambda:updatefunctioncode"}, {"glue:updatedevendpoint"}, {"codestar:createproject"},
	{"ssm:sendcommand"}, {"ssm:startsession"}, {"ec2:modifyinstanceattribute", "ec2:startinstances"},
}

// kindsOf are the resource types of IAM and STS actions.
var kindsOf = map[string]string{
	"iam:createpolicyversion": "policy", "iam:setdefaultpolicyversion": "policy", "iam:putuserpolicy": "user", "iam:attachuserpolicy": "user",
	"iam:createaccesskey": "user", "iam:createloginprofile": "user", "iam:updateloginprofile": "user", "iam:putgrouppolicy": "group",
	"iam:attachgrouppolicy": "group", "iam:addusertogroup": "group", "iam:putrolepolicy": "role", "iam:attachrolepolicy": "role",
	"iam:updateassumerolepolicy": "role", "iam:passrole": "role", "sts:assumerole": "role",
}

// Privileged decides whether an identity is administrator or can make itself
// one: it has all actions of a published privilege escalation, each on every
// resource of the action's type, or may change its own permissions.
func (i Identity) Privileged() predicate.Answer {
	all := []predicate.Answer{i.allows(Statement.isBroad, grants)}
	for _, actions := range escalations {
		var steps []predicate.Answer
		for _, action := range actions {
			steps = append(steps, i.may(action))
		}
		answer := predicate.And(steps...)
		if answer.Truth == predicate.Yes {
			answer.Why = "it may call " + strings.Join(actions, ", ")
		}
		all = append(all, answer)
	}
	return i.complete(predicate.Or(append(all, i.grantsItself())...))
}

// ownGrants are the actions by which a user, group or role gives itself any permission.
var ownGrants = map[string][]string{
	"user": {"iam:putuserpolicy", "iam:attachuserpolicy"}, "group": {"iam:putgrouppolicy", "iam:attachgrouppolicy"}, "role": {"iam:putrolepolicy", "iam:attachrolepolicy"},
}

// grantsItself decides whether an identity may change its own permissions: a
// statement allows one of ownGrants on the identity itself, by name or, for users,
// by the variable aws:username.
func (i Identity) grantsItself() predicate.Answer {
	field := strings.SplitN(i.ARN, ":", 6)
	if len(field) != 6 {
		return predicate.Of(false, "")
	}
	kind, path, _ := strings.Cut(field[5], "/")
	var all []predicate.Answer
	for _, action := range ownGrants[kind] {
		onItself := func(s Statement) bool {
			resources := s.Resources
			if kind == "user" {
				resources.List = slices.Clone(resources.List)
				for n, one := range resources.List {
					resources.List[n] = strings.ReplaceAll(one, "${aws:username}", path[strings.LastIndex(path, "/")+1:])
				}
			}
			return s.Actions.has(action) && resources.has(i.ARN)
		}
		denied := slices.ContainsFunc(i.Policies, func(p Policy) bool {
			return slices.ContainsFunc(p.Statements, func(s Statement) bool { return !s.Allow && len(s.Conditions) == 0 && onItself(s) })
		})
		if !denied {
			all = append(all, i.allows(onItself, []string{action}))
		}
	}
	answer := predicate.Or(all...)
	if answer.Truth == predicate.Yes {
		answer.Why = "it may change its own permissions"
	}
	return answer
}

// may decides whether an identity may call an action on every resource of the action's type.
func (i Identity) may(action string) predicate.Answer {
	return i.allows(func(s Statement) bool { return s.onAll(kindsOf[action]) }, []string{action})
}

// onAll reports whether a statement covers every resource of an IAM type. It does not compare accounts.
func (s Statement) onAll(kind string) bool {
	if s.onEverything() {
		return true
	}
	return kind != "" && !s.Resources.Except && slices.ContainsFunc(s.Resources.List, func(p string) bool {
		field := strings.SplitN(p, ":", 6)
		return len(field) == 6 && covers(field[2], "iam") && covers(field[5], kind+"/*")
	})
}
