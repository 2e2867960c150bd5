"""Pages: downloads and previews of files."""

from typing import TYPE_CHECKING
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from inbox.actions.files.downloads import record_download
from inbox.platform import clock, rate_limits
from inbox.platform.client_ip import client_ip_of
from inbox.platform.files import previews
from inbox.platform.files.downloads import download_response, picture_response
from inbox.queries.files.files import chunks_of, file_by_link, file_for, open_file
from inbox.rules.errors import FileChanged, FileErased, FileLinkExpired
from inbox.rules.files.text_previews import PREVIEW_BYTES, is_text, preview_text
from inbox.rules.people.access import FILE_LINK, Actor
from inbox.web.base.pages import page, show
from inbox.web.base.translate import translate
from inbox.web.files.file_cards import card_of

if TYPE_CHECKING:
    from inbox.models import File

#: Pages of a PDF file that are shown.
MAX_PAGES = 20


@never_cache
@require_safe
def download(request: HttpRequest, file_id: UUID) -> HttpResponseBase:
    """Serve a file: by a signed link to anybody, otherwise to members of its team."""
    if "signature" not in request.GET:
        return _download_of_member(request, file_id)
    try:
        row = file_by_link(file_id, request.GET, clock.now())
        return _download(request, row, FILE_LINK)
    except FileLinkExpired as refusal:
        rate_limits.count_anonymous(client_ip_of(request))
        return HttpResponse(refusal.message, status=410, content_type="text/plain; charset=utf-8")
    except FileErased as refusal:
        return HttpResponse(refusal.message, status=410, content_type="text/plain; charset=utf-8")
    except FileChanged as refusal:
        return _changed(refusal)


@page
def _download_of_member(request: HttpRequest, actor: Actor, file_id: UUID) -> HttpResponseBase:
    row = file_for(actor, file_id)
    try:
        return _download(request, row, actor)
    except FileErased:
        return view_response(request, actor, row, status=410)
    except FileChanged as refusal:
        return _changed(refusal)


@page
def view(request: HttpRequest, actor: Actor, file_id: UUID) -> HttpResponse:
    """Show a preview of a whole file."""
    row = file_for(actor, file_id)
    return view_response(request, actor, row, status=200 if row.blob else 410)


def view_response(request: HttpRequest, actor: Actor, row: "File", *, status: int) -> HttpResponse:
    context = {"card": card_of(row.reference, is_erased=row.blob is None), "file": row}
    if row.blob is not None:
        context |= _preview_context(row)
    return show(request, actor, "files/view.html", context, section="pending", status=status)


@page
def text(request: HttpRequest, actor: Actor, file_id: UUID) -> HttpResponse:
    """Return the preview of a text or table as a fragment."""
    row = file_for(actor, file_id)
    return render(request, "files/text.html", _preview_context(row))


@page
def picture(request: HttpRequest, actor: Actor, file_id: UUID, number: int) -> HttpResponseBase:
    """Return an image, or a page of a PDF file, as a picture that this server has drawn."""
    row = file_for(actor, file_id)
    if row.blob is None or not previews.has_preview(row.media_type) or not 1 <= number <= MAX_PAGES:
        raise Http404
    try:
        preview = previews.preview_of(row.blob.key, row.sha256, row.media_type, number)
    except (previews.PreviewFailed, FileNotFoundError) as error:
        raise Http404 from error
    except FileChanged as refusal:
        return _changed(refusal)
    except previews.PreviewBusy:
        return HttpResponse(status=503, headers={"Retry-After": "5"})
    return picture_response(preview.content, previews.MEDIA_TYPE)


def _download(request: HttpRequest, row: "File", actor: Actor) -> HttpResponseBase:
    content = open_file(row)
    record_download(file=row, actor=actor)
    return download_response(
        request, chunks_of(content), name=row.name, media_type=row.media_type, size=row.size
    )


def _changed(refusal: FileChanged) -> HttpResponse:
    text = translate(refusal.message)
    return HttpResponse(text, status=409, content_type="text/plain; charset=utf-8")


def _preview_context(row: "File") -> dict[str, object]:
    """Return the pages or the text of a file, or why there is no preview."""
    empty = {"problem": "", "text": None, "pages": (), "page_count": 0, "file": row}
    try:
        return {**empty, **_preview(row)}
    except (previews.PreviewFailed, FileErased, FileNotFoundError):
        return {**empty, "problem": _no_preview()}
    except FileChanged as refusal:
        return {**empty, "problem": translate(refusal.message)}
    except previews.PreviewBusy:
        problem = gettext("Too many previews are made at the moment. Reload the page.")
        return {**empty, "problem": problem}


def _preview(row: "File") -> dict[str, object]:
    """Raises FileErased, FileChanged, FileNotFoundError, PreviewFailed, PreviewBusy."""
    if row.blob is not None and previews.has_preview(row.media_type):
        preview = previews.preview_of(row.blob.key, row.sha256, row.media_type)
        pages = range(1, min(preview.pages, MAX_PAGES) + 1)
        return {"pages": pages, "page_count": preview.pages}
    if is_text(row.media_type):
        with open_file(row) as content:
            start = content.read(PREVIEW_BYTES)
        text_preview = preview_text(start, row.media_type, size=row.size)
        if text_preview is not None:
            return {"text": text_preview}
    return {"problem": gettext("Files of this type have no preview.")}


def _no_preview() -> str:
    return gettext("This file cannot be previewed: it is damaged or too large to draw.")
