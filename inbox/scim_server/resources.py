"""The resources of SCIM as this product has them: attributes, capabilities, and their rows."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Annotated, Any, Final, TypeVar

from pydantic import Field
from scim2_models import (
    URN,
    AuthenticationScheme,
    Bulk,
    CaseExact,
    ChangePassword,
    ComplexAttribute,
    Context,
    ETag,
    Filter,
    GroupMembership,
    Meta,
    Mutability,
    Patch,
    Reference,
    Required,
    Resource,
    ResourceType,
    ScimPolicy,
    ScimProvider,
    ServiceProviderConfig,
    Sort,
    Uniqueness,
)

from inbox.queries.directories.directory_people import groups_by_person, members_by_group
from inbox.rules.decisions.consent import canonical_json
from inbox.rules.directories.directory_people import PeopleGroup, Person

#: The most resources of one response; also the default of `count`.
MAX_RESULTS: Final = 200
#: What is stored as it was sent.
_PROFILE: Final = ("active", "displayName", "name", "emails")


class Name(ComplexAttribute):
    """The parts of a person's name."""

    formatted: str | None = None
    family_name: str | None = None
    given_name: str | None = None


class Email(ComplexAttribute):
    """An address; those of internal domains, such as corp.local, are addresses as well."""

    value: str | None = None
    type: str | None = Field(None, examples=["work", "home", "other"])
    primary: bool | None = None


class User(Resource[Any]):
    """A person. Attributes that are not here are ignored, such as `password`."""

    __schema__ = URN("urn:ietf:params:scim:schemas:core:2.0:User")

    user_name: Annotated[str | None, Uniqueness.server, Required.true] = None
    name: Name | None = None
    display_name: str | None = None
    emails: list[Email] | None = None
    active: bool | None = None
    groups: Annotated[list[GroupMembership] | None, Mutability.read_only] = None


class GroupMember(ComplexAttribute):
    """A person in a group; groups have no groups as members."""

    value: Annotated[str | None, Mutability.immutable, CaseExact.true] = None
    ref: Annotated[Reference["User"] | None, Mutability.immutable] = Field(
        None, serialization_alias="$ref", validation_alias="$ref"
    )
    type: Annotated[str | None, Mutability.immutable] = Field(None, examples=["User"])


class Group(Resource[Any]):
    """A group, which gives its members a role in a team."""

    __schema__ = URN("urn:ietf:params:scim:schemas:core:2.0:Group")

    display_name: Annotated[str | None, Required.true] = None
    members: list[GroupMember] | None = None


CONFIG: Final = ServiceProviderConfig(
    patch=Patch(supported=True),
    bulk=Bulk(supported=False, max_operations=0, max_payload_size=0),
    filter=Filter(supported=True, max_results=MAX_RESULTS),
    change_password=ChangePassword(supported=False),
    sort=Sort(supported=True),
    etag=ETag(supported=True),
    authentication_schemes=[
        AuthenticationScheme(
            type=AuthenticationScheme.Type.oauthbearertoken,
            name="Token of a directory",
            description="Authorization: Bearer, with the token of a directory of this site.",
            primary=True,
        )
    ],
)
#: Microsoft Entra ID removes members by `value`, and replaces addresses that do not exist. Both it
#: and Okta send more attributes than there are here.
PROVIDER: Final = ScimProvider(
    models=[User, Group],
    resource_types=[ResourceType.from_resource(User), ResourceType.from_resource(Group)],
    config=CONFIG,
    policy=ScimPolicy(
        unknown=ScimPolicy.Unknown.ignore,
        remove_value_as_filter=ScimPolicy.RemoveValue.apply,
        unmatched_path_filter=ScimPolicy.UnmatchedPathFilter.create,
    ),
)

AnyResource = TypeVar("AnyResource", bound=Resource[Any])


def users_from(rows: Sequence[Any], site: str) -> list[User]:
    """Return people as resources; `site` is the URL of the endpoints."""
    groups = groups_by_person([row.pk for row in rows])
    return [
        _resource(
            User,
            row,
            f"{site}/Users/{row.pk}",
            userName=row.user_name,
            groups=[
                {"value": str(pk), "$ref": f"{site}/Groups/{pk}", "display": name}
                for pk, name in groups.get(row.pk, ())
            ],
            **row.profile,
        )
        for row in rows
    ]


def groups_from(rows: Sequence[Any], site: str) -> list[Group]:
    """Return groups as resources; `site` is the URL of the endpoints."""
    members = members_by_group([row.pk for row in rows])
    return [
        _resource(
            Group,
            row,
            f"{site}/Groups/{row.pk}",
            displayName=row.display_name,
            members=[
                {"value": str(pk), "$ref": f"{site}/Users/{pk}", "type": "User"}
                for pk in members.get(row.pk, ())
            ],
        )
        for row in rows
    ]


def person_from(user: User, *, was_active: bool = True) -> Person:
    """Return what a resource says; one that does not say whether it is active stays as it is."""
    dump = user.model_dump(scim_ctx=Context.DEFAULT)
    return Person(
        user_name=user.user_name or "",
        is_active=was_active if user.active is None else user.active,
        external_id=user.external_id or "",
        profile={name: dump[name] for name in _PROFILE if name in dump},
    )


def group_from(group: Group) -> PeopleGroup:
    """Return what a resource says."""
    return PeopleGroup(
        display_name=group.display_name or "",
        external_id=group.external_id or "",
        members=frozenset(member.value or "" for member in group.members or ()),
    )


def _resource(model: type[AnyResource], row: Any, location: str, **attributes: Any) -> AnyResource:
    assigned = {name: value for name, value in attributes.items() if value not in (None, [])}
    resource = model.model_validate(
        {
            "schemas": [str(model.__schema__)],
            "id": str(row.pk),
            **({"externalId": row.external_id} if row.external_id else {}),
            **assigned,
        }
    )
    text = canonical_json(resource.model_dump(scim_ctx=Context.DEFAULT))
    resource.meta = Meta(
        resource_type=model.__name__,
        created=row.created_at,
        last_modified=row.changed_at,
        location=location,
        version=f'W/"{sha256(text.encode()).hexdigest()[:32]}"',
    )
    return resource
