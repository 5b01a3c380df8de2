"""What the oracle needs of librdkafka, through ctypes: administration, and a producer to compare with."""
import ctypes
import ctypes.util
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_void_p

from daemon import Failure, check

_lib = ctypes.CDLL(ctypes.util.find_library("rdkafka") or "librdkafka.so.1")
for _kind, _names in (
        (c_void_p, "conf_new new queue_new queue_poll topic_new NewTopic_new DeleteTopic_new ConfigResource_new "
                   "AclBinding_new AclBindingFilter_new event_CreateTopics_result event_DeleteTopics_result "
                   "event_AlterConfigs_result event_CreateAcls_result event_DeleteAcls_result "
                   "CreateTopics_result_topics DeleteTopics_result_topics AlterConfigs_result_resources "
                   "CreateAcls_result_acls DeleteAcls_result_responses acl_result_error "
                   "DeleteAcls_result_response_error"),
        (c_char_p, "error_string topic_result_error_string event_error_string ConfigResource_error_string")):
    for _name in _names.split():
        getattr(_lib, "rd_kafka_" + _name).restype = _kind

_REPORT = ctypes.CFUNCTYPE(None, c_void_p, c_void_p, c_void_p)
_PRODUCER, _COPY = 0, 2
_TOPIC, _LITERAL, _DENY, _WRITE, _ANY = 2, 3, 2, 4, 1


def _call(name, *arguments):
    return getattr(_lib, "rd_kafka_" + name)(*arguments)


def _pointer(value):
    return c_void_p(value)


class Client:
    """A producer handle; also administers. Use as a context."""

    def __init__(self, conf):
        text = ctypes.create_string_buffer(512)
        handle = _pointer(_call("conf_new"))
        for name, value in {"log_level": "0", **conf}.items():
            if _call("conf_set", handle, name.encode(), str(value).encode(), text, c_size_t(512)) != 0:
                raise Failure(f"{name}: {text.value.decode()}")
        self._delivered = 0
        self._on_report = _REPORT(self._count)  # librdkafka keeps it no longer than this object
        _call("conf_set_dr_msg_cb", handle, self._on_report)
        self._kafka = _pointer(_call("new", c_int(_PRODUCER), handle, text, c_size_t(512)))
        check(self._kafka.value, text.value.decode())

    def _count(self, _kafka, message, _opaque):
        if ctypes.cast(message, POINTER(c_int))[0] == 0:  # the first member is the error
            self._delivered += 1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        _call("purge", self._kafka, c_int(3))
        _call("flush", self._kafka, c_int(100))
        _call("destroy_flags", self._kafka, c_int(8))

    def _admin(self, name, request, count, result_items, errors, seconds):
        """One admin request with its items; the texts of what went wrong."""
        queue = _pointer(_call("queue_new", self._kafka))
        items = (c_void_p * count)(*request)
        _call(name, self._kafka, items, c_size_t(count), None, queue)
        event = _pointer(_call("queue_poll", queue, c_int(int(seconds * 1000))))
        if not event.value:
            return [f"{name}: no answer within {seconds} s"]
        if _call("event_error", event) != 0:
            texts = [_call("event_error_string", event).decode()]
        else:
            result = _pointer(_call(f"event_{name}_result", event))
            number = c_size_t()
            found = ctypes.cast(_call(result_items, result, byref(number)), POINTER(c_void_p))
            texts = [errors(_pointer(found[i])) for i in range(number.value)]
        _call("event_destroy", event)
        _call("queue_destroy", queue)
        return [text for text in texts if text]

    @staticmethod
    def _topic_error(item):
        return _call("topic_result_error_string", item).decode() if _call("topic_result_error", item) else ""

    @staticmethod
    def _error_object(item):
        return _call("error_string", item).decode() if item.value else ""

    def create_topic(self, name, partitions, replicas, seconds=30):
        text = ctypes.create_string_buffer(512)
        topic = _call("NewTopic_new", name.encode(), c_int(partitions), c_int(replicas), text, c_size_t(512))
        return self._admin("CreateTopics", [topic], 1, "CreateTopics_result_topics", self._topic_error, seconds)

    def delete_topic(self, name, seconds=30):
        topic = _call("DeleteTopic_new", name.encode())
        return self._admin("DeleteTopics", [topic], 1, "DeleteTopics_result_topics", self._topic_error, seconds)

    def set_topic(self, name, settings, seconds=30):
        """Replaces the topic's whole configuration."""
        resource = _call("ConfigResource_new", c_int(_TOPIC), name.encode())
        for key, value in settings.items():
            _call("ConfigResource_set_config", _pointer(resource), key.encode(), str(value).encode())
        return self._admin("AlterConfigs", [resource], 1, "AlterConfigs_result_resources",
                           lambda item: (_call("ConfigResource_error_string", item) or b"").decode()
                           if _call("ConfigResource_error", item) else "", seconds)

    def deny_write(self, topic, principal, seconds=30):
        text = ctypes.create_string_buffer(512)
        binding = _call("AclBinding_new", c_int(_TOPIC), topic.encode(), c_int(_LITERAL), principal.encode(), b"*",
                        c_int(_WRITE), c_int(_DENY), text, c_size_t(512))
        return self._admin("CreateAcls", [binding], 1, "CreateAcls_result_acls",
                           lambda item: self._error_object(_pointer(_call("acl_result_error", item))), seconds)

    def forget_acls(self, topic, seconds=30):
        text = ctypes.create_string_buffer(512)
        binding = _call("AclBindingFilter_new", c_int(_TOPIC), topic.encode(), c_int(_LITERAL), None, None, c_int(_ANY),
                        c_int(_ANY), text, c_size_t(512))
        return self._admin("DeleteAcls", [binding], 1, "DeleteAcls_result_responses",
                           lambda item: self._error_object(_pointer(_call("DeleteAcls_result_response_error", item))),
                           seconds)

    def deliver(self, topic, partitions, value, seconds):
        """Whether one record for each of the first partitions was acknowledged in time."""
        self._delivered = 0
        handle = _pointer(_call("topic_new", self._kafka, topic.encode(), None))
        for partition in range(partitions):
            _call("produce", handle, c_int(partition), c_int(_COPY), value, c_size_t(len(value)), None, c_size_t(0),
                  None)
        _call("flush", self._kafka, c_int(int(seconds * 1000)))
        _call("topic_destroy", handle)
        return self._delivered == partitions
